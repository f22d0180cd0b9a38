"""Opening what others own: regular files only, without blocking, with a limit; writing without
following a link.
"""

from __future__ import annotations

import os
import socket
import stat

import pytest

from contextkernel.store import files


def fifo(path):
    os.mkfifo(path)


def device(path):
    os.symlink("/dev/zero", path)


def unix_socket(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


@pytest.mark.parametrize("make", [os.mkdir, fifo, device, unix_socket])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path, make):
    path = tmp_path / "thing"
    make(path)
    with pytest.raises(OSError):
        files.content(str(path), 100)


def test_a_link_to_a_regular_file_is_read(tmp_path):
    (tmp_path / "real").write_bytes(b"abc")
    os.symlink("real", tmp_path / "link")
    assert files.content(str(tmp_path / "link"), 3) == b"abc"


def test_a_file_over_the_limit_is_refused(tmp_path):
    (tmp_path / "big").write_bytes(b"abcd")
    with pytest.raises(files.TooLargeError):
        files.content(str(tmp_path / "big"), 3)


def test_no_descriptor_is_left_open_after_a_refusal(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for _ in range(5):
        with pytest.raises(files.NotRegularError):
            files.opened(str(tmp_path / "pipe"))
    assert (len(os.listdir("/proc/self/fd")) if before else 0) == before


def test_a_replaced_file_is_private_and_leaves_nothing_beside(tmp_path):
    previous = os.umask(0)
    try:
        files.replace(str(tmp_path / "state"), b"1")
    finally:
        os.umask(previous)
    assert stat.S_IMODE(os.stat(tmp_path / "state").st_mode) == 0o600
    assert os.listdir(tmp_path) == ["state"]


def test_a_replaced_link_leaves_its_target_alone(tmp_path):
    (tmp_path / "target").write_bytes(b"mine")
    os.symlink("target", tmp_path / "state")
    files.replace(str(tmp_path / "state"), b"new")
    assert (tmp_path / "target").read_bytes() == b"mine"
    assert (tmp_path / "state").read_bytes() == b"new"
