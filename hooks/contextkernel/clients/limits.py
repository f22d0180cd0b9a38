"""How much the clients show: every limit of theirs that shapes our texts, the unit in its name.

Claude Code counts UTF-16 units where it says characters; beside each stand the versions it was
seen on. `normalize` has no clients, and is handed its cap by whoever calls it.
"""

from __future__ import annotations

# Claude Code, a tool's result: beyond these it goes to a file, and the model reads a preview of it.
# Seen on 2.1.121, 2.1.200 and 2.1.332.
BASH_MAX_CHARS = 30000
GREP_MAX_CHARS = 20000
MCP_MAX_CHARS = 50000
OTHER_MAX_CHARS = 100000  # Glob, WebFetch, Agent
READ_MAX_CHARS = 1 << 30  # none: Read cuts by tokens itself, and says so
PREVIEW_CHARS = 2000
PREVIEW_BYTES = 2240  # the preview with the `<persisted-output>` wrapper around it

# Claude Code, a failing command: up to 10,000 its output stands whole (2.1.121 and 2.1.200 count
# the line `Exit code N` in), of a longer one the two ends of what was read.  Seen on 2.1.121,
# 2.1.200 and 2.1.332.
FAILURE_MAX_CHARS = 10000
FAILURE_WHOLE_CHARS = 9900  # stands whole for certain, whatever lines the client adds of its own
FAILURE_END_CHARS = 5000
FAILURE_READ_CHARS = 30000  # BASH_MAX_OUTPUT_LENGTH changes it; what follows is nowhere
FAILURE_CUT_CHARS = 2 * FAILURE_END_CHARS + 40  # both ends, with the line between them

# Claude Code, what a tool of our server may ask for by `anthropic/maxResultSizeChars`: without it
# a result above 50,000 goes to a file, or is refused by its tokens; with it 160,000 arrived whole
# on 2.1.121 and 2.1.332.  A slice keeps to its budget, 80,000 tokens at most.
SERVER_MAX_CHARS = 500000

# Codex.  Seen on 0.150 and 0.171.
CODEX_REPLY_MAX_CHARS = 10000  # of a hook's feedback, which it cuts itself
CODEX_TEXT_CHARS = 9900  # of our text in it, behind Codex's own head
CODEX_SLICE_MAX_TOKENS = 11000  # the middle of a result above 48,000 characters is cut out
