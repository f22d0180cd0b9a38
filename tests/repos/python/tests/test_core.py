from shop import run


def test_run():
    assert run()
