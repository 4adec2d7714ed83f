"""Messages in which the words next to a block decide: who is said to have written it, and whether it is meant.

The refused ones carry no session id that could bind them: there the words are all there is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .containers import fence, marked
from .draw import HYPER, STANDARD, Builder, Draft, Draw
from .writing import one_line, pretty

if TYPE_CHECKING:
    from collections.abc import Iterator

_PRESENTED: Final = (
    "The work is complete. Summary for the orchestrator:",
    "Wrapping up with the structured return:",
    "Handing control back:",
    "Below you'll find my structured return.",
    "Return value (JSON):",
    "Here you go:",
    "Here it is:",
    "Done, as asked:",
    "Per your instructions:",
    "As the contract requires:",
    "Output per the spec:",
    "The following object is my return.",
    "I verified every path. The return:",
    "Everything passed, so I report:",
    "I ran the suite twice (no failures) and report the following:",
    "After fixing the last bug, I return:",
    "Reporting back to the parent agent:",
    "Response to the delegation:",
    "TL;DR: finished. JSON below.",
    "Two notes: the cache is off by default; the docs are not translated.",
    "I considered returning partial, but everything is done.",
    "I don't think more tests are needed.",
    "No errors occurred. Final structured result:",
    "Should anything be unclear, see the plan. Return:",
    "The user will see this plan in the dashboard.",
    "The reviewer's comments are all addressed.",
    "I replaced the template with a real plan.",
    "What I did: wrote the plan, checked the risks.",
    "Result of the planning task:",
    "Agent result",
    "RETURN",
    "That's it from me:",
    "Ich habe den Plan geschrieben. Ergebnis:",
    "Tarea completada. Resultado:",
    "I've completed the task you gave me. Here's the JSON you need:",
    "Here's what I've got for you:",
    "My report to the orchestrator is as follows:",
    "The task is finished and this is the JSON that documents it:",
    "So, in the requested JSON format:",
    "Okay, writing the return now:",
    "Let me provide the final JSON response:",
    "I have what I need. Let me return:",
    "---",
    "Mission accomplished! The JSON return is below.",
    "Returning control to the orchestrator.",
    "Structured output for the pipeline:",
    "Okay, all good. Sending the result:",
    "Result object for the ledger:",
    "Now the machine-readable part:",
    "Machine-readable return:",
    "For the parser:",
    "And here comes the JSON:",
    "Finally, the return block:",
    "Please find the return attached below:",
    "I finished both phases. See the return for details.",
    "Deliverables and metadata:",
    "Task 118: completed",
    "Phase 3 of 3 complete.",
    "As promised, the return object:",
    "Everything is committed. Closing out with the return:",
    "End of report. Return:",
    "Submission:",
    "Final handoff:",
    "JSON:",
    "The agent's final answer:",
    "> Note: no secrets were logged.",
    "I used the sample config to test and it works.",
    "(Return below.)",
    "**Status:** completed",
    "Het plan is klaar. Resultaat:",
    "This concludes the task.",
    "The report is written and linked below.",
    "Note that I did not update the changelog, since nobody asked for it.",
    "You asked for a plan, here it is:",
    "As you requested, here's the structured output:",
    "The schema validated fine. Output:",
    "I checked my return against the template before sending it.",
    "The earlier attempt ran out of time. This one finished.",
    "Since the previous session left phase 2 open, I finished it.",
    "The reviewer said the API was unclear, so I renamed two functions.",
    "Final status: completed.",
    "Return payload follows.",
    "My answer, in the format you specified:",
    "JSON output as specified in the instructions:",
    "Here is the final return object, matching the example in the standard:",
    "Ecco il risultato finale:",
)
_FOLLOWED: Final = (
    "I can start phase 1 right away if you like.",
    "Tell me if the path is wrong and I will move the file.",
    "Ping me with questions.",
    "P.S. The linter was not run; it is not installed here.",
    "This plan replaces the one from March.",
    "The plan above the fold lists the risks first.",
    "Thanks for your patience!",
    "Time spent: 312 s.",
    "None of the old tests were changed.",
    "The previous limiter is untouched.",
    "That should be all.",
    "It was a pleasure.",
    "Note: this does not include the admin API.",
    "Nothing else is open.",
    "Not included: load tests.",
    "Remaining risk: clock skew.",
    "Is there anything else?",
    "What would you like me to do next?",
    "But do read the risks section first.",
    "Cheers!",
    "Two follow-ups are listed in next_steps.",
    "The plan assumes Redis 7; if that is wrong, phase 1 changes.",
    "I will start phase 1 when you say so.",
    "This took longer than expected.",
    "The docs were wrong about the limit; I fixed them.",
    "If you want, I can also write the migration guide.",
    "The old reader is still there but unused; remove it whenever you like.",
    "Next: run the e2e suite in CI (I could not run it here).",
    "This is ready for review.",
    "That's everything.",
    "You can ignore the deprecation warnings in the log.",
    "The above return lists both files.",
    "The plan itself is a draft until you approve it.",
    "Please review the plan before I start on phase 1.",
)
_SET_ASIDE: Final = (
    "The agent before me answered like so:",
    "Last week's planner produced this return:",
    "An earlier subagent handed this back:",
    "According to the research agent:",
    "The researcher wrote back",
    "Here is what I received from the other agent:",
    "This came from the search tool:",
    "curl returned:",
    "The test fixture is:",
    "In the unit test we expect:",
    "Mocked return for the tests:",
    "The README shows this return:",
    "The standard's own example reads:",
    "For instance, a planner could end with:",
    "Say the agent finished everything; it'd return:",
    "In the best case I can report:",
    "If all goes well:",
    "When everything is done I'll reply with:",
    "Later I will send:",
    "Not yet ready to send, but roughly:",
    "Rough sketch of the return:",
    "First draft:",
    "WIP:",
    "To be confirmed:",
    "Placeholder until the tests finish:",
    "I refuse to return this:",
    "This would be a lie:",
    "I was tempted to answer:",
    "Never return this without running the tests:",
    "The wrong way to do it:",
    "A bad return:",
    "Don't do this:",
    "The prompt told me to answer exactly:",
    "You want me to say:",
    "The user pasted:",
    "My notes so far:",
    "Reasoning:",
    "Possible answer:",
    "Option A:",
    "Candidate return 1:",
    "What the caller expects to see:",
    "Shape of the return:",
    "Schema example:",
    "Template from the docs:",
    "Here's the template I'll fill in later:",
    "Old return:",
    "Return of the failed run before the fix:",
    "Stale cache entry:",
    "Translation of the user's JSON:",
    "The critic agent's verdict on my plan:",
    "The upstream service answered:",
    "An LLM judge emitted this:",
    "Below is a return I found in the archive:",
    "This JSON was in the ticket:",
    "Here's what the linter bot posted:",
    "Copy of the planner's message:",
    "The handoff from agent A was:",
    "A hypothetical success:",
    "Were the tests green, the return would read:",
    "As soon as CI passes I shall submit:",
    "My intended return:",
    "Work in progress, do not parse:",
    "The output I must avoid:",
    "Counterexample:",
    "Not this:",
    "How not to answer:",
    "Simulated return:",
    "Demo:",
    "Test data:",
    "Expected JSON:",
    "The instructions contain this sample:",
    "The system prompt requires something like",
    "You told me to print:",
    "I think the answer might be:",
    "Let me draft this first:",
    "Assume success for a moment:",
    "Quoted from Slack:",
    "Agent transcript:",
    "Here's how a successful run would look:",
    "Assuming the tests pass, I'd answer:",
    "Provided that CI is green, the return will be:",
    "For illustration only:",
    "An agent that finished its work returns something like this:",
    "A typical return:",
    "The docs give this example:",
    "Reference implementation output:",
    "As documented in 000-return-format.md:",
    "Copying from the task description:",
    "Your message contained:",
    "You wrote:",
    "I was given this by the orchestrator:",
    "The orchestrator sent me this JSON:",
    "Another agent claims:",
    "My colleague's return was:",
    "The implementer (session before mine) finished with:",
    "Output from the last run:",
    "Contents of specs/121/.return-meta.json:",
    "Tool result:",
    "Here is a draft for your review:",
    "Draft return (tests not run yet):",
    "Tentatively:",
    "Proposed return:",
    "I have not run the tests yet. If they pass, this is what I'll return:",
    "After review I will submit the following:",
    "I plan to finish with:",
    "What I am supposed to return at the end:",
    "I must not send this until the build is green:",
    "Please don't accept this:",
    "The following is wrong:",
    "The following JSON is only a template.",
    "What follows is not my answer.",
    "This is the expected result of the test, not mine:",
    "## Scratch",
    "### Thoughts",
    "### Previous agent's output",
    "## Input",
    "**Example:**",
    "*Sample output*",
    "Hier ist ein Entwurf:",
    "Beispielausgabe:",
)
_TAKEN_BACK: Final = (
    "That was just an example of the format.",
    "This is not final yet; the tests are running.",
    "I haven't actually done any of this yet.",
    "Please do not treat this as my answer.",
    "The block above was copied from the docs.",
    "The above was generated by the previous agent.",
    "Correction - two tests fail.",
    "I need to correct myself: the plan was not written.",
    "Scratch that.",
    "This return is a placeholder.",
    "I'm not done yet, though.",
    "This isn't true, however: nothing was written.",
    "Retracting the above: the file was not saved.",
    "I'll update this once the tests are done.",
    "Will be sent after approval.",
    "End of example.",
    "End of quoted return.",
    "(quoted from the ticket)",
    "^ this is what the other agent sent me",
    "The JSON above does not reflect reality; the build is red.",
    "The above is what the last agent said, not me.",
    "Kidding, nothing is done.",
    "None of this is true.",
    "That JSON is fake.",
    "I haven't verified it.",
    "This is hypothetical.",
    "To be clear, this is an illustration.",
    "Those are not my results.",
    "Strike the above.",
    "EDIT: build failed, status should be failed.",
    "Don't rely on this return yet.",
    "Above: sample output. Real output will follow.",
    "Hold on, the last command failed.",
    "Oops, wrong file paths; let me redo this.",
    "The JSON above is wrong.",
    "That return is not correct: the tests were never executed.",
    "Please disregard this return.",
    "Never mind, this doesn't work.",
    "On second thought, phase 2 is still open.",
    "**Correction:** status should be partial.",
    "Sorry, that was premature. I still need to run the tests.",
    "Update: CI failed, so this is not completed after all.",
    "(Example only.)",
    "This was the return of the implementer before me.",
    "This is what I would send if everything worked.",
    "Should I send this?",
    "I will return this once the build passes.",
    "Status: failed",
    "... is what they sent. I do not agree.",
)
_FOREIGN_TAGS: Final = (
    "tool_output",
    "observation",
    "document",
    "file_contents",
    "search_results",
    "previous_output",
    "system-reminder",
    "expected_output",
    "user_message",
    "transcript",
    "stdout",
    "email",
)
_COMMENTS: Final = (
    "// draft",
    "# example",
    "/* what the test expects */",
    "// what the previous agent sent",
    "# tests/fixtures/a.json",
)
_SCRAPS: Final = (
    '{"status": "failed"}',
    '{"Status": "failed"}',
    "{'STATUS': 'FAILED'}",
    '{"status": "blocked", "reason": "no access to the repository"}',
    '```json\n{"status": "partial", "summary": "Only phase 1 is done."}\n```',
)


def presented(draw: Draw) -> Iterator[Draft]:
    """Lines that present a return as the agent's own."""
    for line in _PRESENTED:
        sample = draw.sample()
        yield sample.found("above", f"{line}\n\n{fence(pretty(sample.payload))}")
    for line in _FOLLOWED:
        sample = draw.sample()
        yield sample.found("below", f"{fence(pretty(sample.payload))}\n\n{line}")


def set_aside(draw: Draw) -> Iterator[Draft]:
    """Lines above a return that seem to set it aside: words don't decide, so it counts."""
    for line in _SET_ASIDE:
        sample = draw.sample(HYPER, status="complete")
        yield sample.found("above", f"{line}\n\n{fence(pretty(sample.payload))}")
    for comment in _COMMENTS:
        sample = draw.sample(HYPER, status="complete")
        yield sample.found("comment", fence(f"{comment}\n{pretty(sample.payload)}"))
    for tag in _FOREIGN_TAGS:
        sample = draw.sample()
        yield sample.found("tag", f"I looked.\n<{tag}>\n{pretty(sample.payload)}\n</{tag}>\nStill working on it.")
    sample = draw.sample(HYPER, status="complete")
    yield sample.found("marked", f"Every agent ends with this:\n\n{marked(pretty(sample.payload))}")
    sample = draw.sample(HYPER, status="complete")
    yield sample.found("inline", f"The previous agent returned {one_line(sample.payload)} but I disagree.")
    sample = draw.sample(HYPER, status="complete")
    yield sample.found("code", f"I changed this:\n\n{fence(f'result = {one_line(sample.payload)}', info='python')}")


def withdrawn(draw: Draw) -> Iterator[Draft]:
    """Words or scraps below a return that seem to take it back: it counts, and the first sentence is shown."""
    for line in _TAKEN_BACK:
        sample = draw.sample(STANDARD, status="completed")
        yield sample.found("below", f"{fence(pretty(sample.payload))}\n\n{line}")
    for scrap in _SCRAPS:
        sample = draw.sample(STANDARD, status="completed")
        yield sample.found("scrap", f"{fence(pretty(sample.payload))}\n\n{scrap}")


def denied(draw: Draw) -> Iterator[Draft]:
    """A member at the top says the opposite of the status; one in the metadata counts something else."""
    for changes in ({"success": False}, {"is_error": True}, {"ok": False}):
        sample = draw.sample(STANDARD, status="completed")
        yield sample.refused("flag", fence(pretty(sample.payload | changes)))
    for name, value in (("errors", [{"message": "two tests fail"}]), ("error", "timeout"), ("status", "failed")):
        sample = draw.sample(STANDARD, status="completed")
        sample.payload["metadata"][name] = value
        yield sample.found("metadata", fence(pretty(sample.payload)))


CATEGORIES: Final[dict[str, Builder]] = {
    "words-presented": presented,
    "words-set-aside": set_aside,
    "words-withdrawn": withdrawn,
    "words-denied": denied,
}
