"""The words of an answer, and what each of them means to a reader. Which words there are is the code's."""

from __future__ import annotations

EXITS = {
    "ACCEPTED": "It is done, or what was looked at holds.",
    "NOT_ACCEPTED": "It was looked at, and the answer is no: findings, a return that is refused, a move that is not "
    "legal.",
    "COULD_NOT_RUN": "It could not be looked at: a wrong option, a file that can't be read, a bug.",
    "INTERRUPTED": "Ctrl-C.",
}
RPC = {
    "PARSE_ERROR": "A line is no JSON.",
    "INVALID_REQUEST": "A line is JSON and no request.",
    "INTERNAL_ERROR": "A bug.",
    "NOT_FOUND": "There is no such resource.",
    "INVALID_PARAMS": "There is no such tool.",
}
OUTCOMES = {
    "accepted": "It holds as it was sent.",
    "repaired": "It holds; its JSON was broken in a way that left no doubt, and each repair is told.",
    "missing": "There is no return in the message.",
    "malformed": "There is something like one, and it can't be read without guessing.",
    "invalid": "It can be read, and is not as the contract has it.",
    "ambiguous": "There is more than one, or one that says two things.",
    "degenerate": "It is a template that nobody filled in.",
    "fabricated": "It claims what is not so: files that are not there or that nobody touched.",
    "unproven": "It claims a file that Remit could not verify. The status is `partial`, and the agent is not asked "
    "again.",
}
STATUS_WORDS = {
    "completed": "All of it is done, and every artifact is on disk.",
    "partial": "A part is done; `remit resume` goes on with it.",
    "failed": "Nothing of use is left; `remit retry` begins anew.",
    "blocked": "Something outside is in the way; it can be tried again later.",
}
ENDINGS = {
    "exited": "The agent came to its own end.",
    "timeout": "Its time was up.",
    "cancelled": "Somebody ended it.",
    "crashed": "Its program ended without an answer.",
    "rejected": "It was not begun, or its harness refused the work.",
    "orphaned": "Whoever drove it is gone, and it could not be taken up again.",
    "budget": "It used as much as it may.",
}
GRADES = {
    "missing": "There is no such file.",
    "unchanged": "There is such a file, and it is what it was before the run.",
    "unknown": "There is such a file, and Remit cannot decide whether the run changed it.",
    "changed": "The file was made or changed during the run.",
    "attributed": "The file changed, and this session's own tools wrote it.",
}
DELEGATION_STATES = {
    "admitted": "It waits for its turn.",
    "running": "Its agent is at work.",
    "finishing": "Its return was checked; the task is moved and the work committed.",
    "finished": "It is over.",
}
SEVERITIES = {
    "error": "It is refused.",
    "warning": "It is told; `remit lint` fails by it unless it is told not to, a return is accepted all the same.",
    "note": "It is told, and nothing follows.",
}
TRANSPORTS = {
    "message": "The whole message is the return.",
    "block": "A block in the message is.",
    "manifest": "A sentence, and a line of the manifest.",
    "file": "A file that the agent wrote.",
}
FILE_STATES = {
    "file": "A file with something in it.",
    "empty": "A file with nothing in it.",
    "missing": "Nothing.",
    "outside": "It leads out of the project.",
    "special": "A folder, a device or a pipe.",
    "unreadable": "It cannot be looked at.",
}
ERROR_STATES = {
    "open": "Something is to be done about it.",
    "investigating": "Somebody is at it.",
    "fixed": "It was put right; should it come back, that is told.",
    "ignored": "Nothing will be done about it.",
}
