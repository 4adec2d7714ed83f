"""The work that the messages talk about: a dozen projects, each with files, outcomes, troubles and prose of its own.

Data only. Nothing in these texts is a trap; traps are laid by the builders that use them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class File:
    """A file that an agent left: its kind in the standard format, and what can be said about it."""

    kind: str
    path: str
    about: str
    points: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trouble:
    """What can go wrong in a job, as an error of a return."""

    type: str
    code: str
    message: str
    recommendation: str


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work in one project, with enough words for many different final messages."""

    project: str
    number: int
    title: str
    command: str
    agent: str
    worker: str
    verdicts: tuple[str, ...]
    files: tuple[File, ...]
    trouble: Trouble
    steps: tuple[str, ...]
    prose: tuple[str, ...]
    bullets: tuple[str, ...]
    language: str
    code: str
    config: str


LEAN: Final = Job(
    project="ModalLogic",
    number=412,
    title="Soundness of the K axiom schema",
    command="research",
    agent="lean-research-agent",
    worker="proof-strategy-researcher",
    verdicts=(
        "Surveyed four proofs of soundness for K in Mathlib and two theses.",
        "The canonical-model route needs Zorn's lemma; the filtration route does not.",
        "Recommended filtration, with three lemmas to state first.",
        "Two of the lemmas already exist under other names.",
    ),
    files=(
        File(
            "report",
            "specs/412_soundness_k/reports/research-001.md",
            "Comparison of two proof routes for K",
            ("Filtration avoids choice", "Frame class lemma is missing", "Mathlib has Relation.Map already"),
        ),
        File(
            "summary",
            "specs/412_soundness_k/summaries/research-summary-20260114.md",
            "One-page digest of the survey",
            ("Two routes compared", "One recommended", "Three lemmas listed"),
        ),
        File(
            "implementation",
            "Logos/Semantics/Filtration.lean",
            "Statements of the three lemmas, proofs open",
            ("States frame_map_mono", "States filtration_refl", "Leaves proofs as sorry"),
        ),
    ),
    trouble=Trouble(
        "timeout",
        "TIMEOUT",
        "LeanSearch gave no answer within 30 s on two tries",
        "Retry /research 412 when the search service answers again",
    ),
    steps=(
        "Run /plan 412 to plan the filtration proof",
        "Review the three lemma statements",
        "Check whether Relation.Map covers frame_map_mono",
    ),
    prose=(
        (
            "I read through Mathlib's `Order.Filter` and the two theses you linked, and compared how each gets from frame "
            "validity to soundness."
        ),
        (
            "The short version: the canonical-model proof is longer in Lean than on paper, because every use of maximal "
            "consistent sets drags in `zorn_subset`. Filtration stays finite and needs none of that."
        ),
        "One thing I did not expect: `Relation.Map` already has the monotonicity lemma we wanted to write ourselves.",
        "I left the proofs open on purpose. Stating the lemmas first makes the plan easier to split.",
    ),
    bullets=(
        "`frame_map_mono` follows from an existing lemma",
        "`filtration_refl` is new, about 12 lines",
        "no axioms beyond propext are needed",
    ),
    language="lean",
    code="theorem filtration_refl {F : Frame} (h : F.refl) : (filtrate F).refl := by\n"
    "  intro w\n  obtain ⟨x, hx⟩ := w.exists_rep\n  exact ⟨x, x, hx, hx, h x⟩",
    config='{\n  "name": "Logos",\n  "version": "0.4.1",\n  "packages": [{"url": "mathlib4", "rev": "v4.24.0"}]\n}',
)

OAUTH: Final = Job(
    project="storefront-web",
    number=87,
    title="Sign in with Google and GitHub",
    command="implement",
    agent="task-executor",
    worker="implementation-orchestrator",
    verdicts=(
        "Added OAuth sign-in for Google and GitHub behind the AUTH_PROVIDERS flag.",
        "Existing password accounts are linked by verified e-mail.",
        "All 214 unit tests pass and the two new browser tests are green.",
        "Token refresh is handled in one place, src/auth/refresh.ts.",
    ),
    files=(
        File(
            "implementation",
            "src/auth/providers.ts",
            "Provider table and code exchange for both providers",
            ("Adds Google and GitHub", "PKCE on by default", "Errors carry the provider name"),
        ),
        File(
            "implementation",
            "src/auth/refresh.ts",
            "Token refresh with a single-flight guard",
            ("One refresh per user at a time", "Backs off on 429", "Logs no tokens"),
        ),
        File(
            "documentation",
            "docs/auth/oauth.md",
            "How to register the two OAuth apps",
            ("Lists redirect URLs", "Explains the flag", "Names the three secrets"),
        ),
    ),
    trouble=Trouble(
        "permission",
        "TOOL_UNAVAILABLE",
        "No client secret for GitHub in the staging vault",
        "Add GITHUB_CLIENT_SECRET to staging and run /implement 87 again",
    ),
    steps=(
        "Register the staging redirect URL with GitHub",
        "Run the browser tests against staging",
        "Remove the old password-only route",
    ),
    prose=(
        (
            "Both providers work end to end on my side. I tested the happy path, a denied consent screen and an expired "
            "code."
        ),
        (
            "Accounts are linked only when the provider says the e-mail is verified; otherwise the user is asked to sign "
            "in with the password first. That's stricter than the ticket, but it closes the takeover hole."
        ),
        "I didn't touch the session middleware apart from one import.",
        "The flag is off by default, so merging this changes nothing for users until you flip it.",
    ),
    bullets=(
        "`providers.ts` holds the table, so a third provider is six lines",
        "refresh is single-flight per user",
        "the mobile layout of the buttons needs a designer's eye",
    ),
    language="ts",
    code="export const providers: Record<string, Provider> = {\n  google: { issuer: 'https://accounts.google.com', "
    "pkce: true },\n  github: { issuer: 'https://github.com', pkce: true },\n};\n\n"
    "export function pick(name: string) {\n  if (!(name in providers)) { throw new Error(`unknown ${name}`); }\n"
    "  return providers[name];\n}",
    config='{\n  "compilerOptions": {\n    "strict": true,\n    "target": "ES2023",\n    "paths": {"@/*": ["src/*"]}\n'
    "  }\n}",
)

ETL: Final = Job(
    project="ledger-pipeline",
    number=1203,
    title="Late events double-count in the daily roll-up",
    command="implement",
    agent="data-implementer",
    worker="pipeline-debugger",
    verdicts=(
        "Fixed the double count: late events are now merged by event id before the roll-up.",
        "Rebuilt the last 14 days; totals match the source within 0.02 percent.",
        "Backfill for January is prepared but not started.",
        "Added a check that fails the run when a day moves by more than 1 percent.",
    ),
    files=(
        File(
            "implementation",
            "pipelines/rollup/merge_late.py",
            "Merge step keyed on event id",
            ("Window of 72 hours", "Idempotent on reruns", "Keeps the earliest ingest time"),
        ),
        File(
            "implementation",
            "pipelines/rollup/tests/test_merge_late.py",
            "Nine tests for the merge step",
            ("Covers duplicates", "Covers clock skew", "Covers empty days"),
        ),
        File(
            "report",
            "specs/1203_late_events/reports/research-002.md",
            "What went wrong and since when",
            ("Started on 3 November", "Hit 41 tenants", "Largest error was 6 percent"),
        ),
    ),
    trouble=Trouble(
        "execution",
        "BUILD_ERROR",
        "The warehouse refused the backfill query: quota exceeded",
        "Raise the slot quota or run the backfill at night, then resume with /implement 1203",
    ),
    steps=(
        "Start the January backfill after 22:00",
        "Watch the drift check for two days",
        "Tell the 41 tenants about the corrected totals",
    ),
    prose=(
        (
            "Root cause: the watermark moved on ingest time, not on event time, so a late event was written once by the "
            "late path and once more by the next full run."
        ),
        (
            "I reproduced it with a fixture of 6 events before changing anything. After the change the same fixture gives "
            "6 rows instead of 8."
        ),
        "The rebuild took 38 minutes for 14 days. January will take about 90.",
        "Nothing downstream reads the intermediate table directly, I checked the lineage view.",
    ),
    bullets=(
        "dedupe key is `event_id`, falling back to (tenant, ts, hash)",
        "the window is 72 h, from the p99.9 delay",
        "the drift check is a warning for the first week",
    ),
    language="sql",
    code="merge into daily_rollup t using (\n  select * from staged qualify row_number() over "
    "(partition by event_id order by ingested_at) = 1\n) s on t.event_id = s.event_id\n"
    "when not matched then insert row;",
    config='{"dag": "rollup_daily", "schedule": "15 3 * * *", "status": "active", "retries": 2, '
    '"params": {"window_hours": 72}}',
)

RUST: Final = Job(
    project="ferrogrep",
    number=56,
    title="Search inside compressed archives",
    command="plan",
    agent="planner",
    worker="cli-architect",
    verdicts=(
        "Planned archive search for ferrogrep in four phases.",
        "zip and tar.gz come first; 7z is left out because no pure Rust reader is good enough.",
        "Estimated effort is 11 hours, the riskiest part is path display.",
        "No new unsafe code is needed.",
    ),
    files=(
        File(
            "plan",
            "specs/056_archive_search/plans/implementation-001.md",
            "Four-phase plan with tests per phase",
            ("Phase 1 is the reader trait", "Phase 3 carries the risk", "Each phase ends in a release build"),
        ),
        File(
            "report",
            "specs/056_archive_search/reports/research-001.md",
            "Readers compared on 2 GB of archives",
            ("zip crate is fastest", "tar streams well", "7z readers allocate per file"),
        ),
    ),
    trouble=Trouble(
        "validation",
        "VALIDATION_FAILED",
        "The task names no target for path display in archives",
        "Decide between a.zip:inner/path and a.zip//inner/path, then run /plan 56 again",
    ),
    steps=(
        "Run /implement 56 to execute the plan",
        "Decide how paths inside archives are shown",
        "Collect three large archives for the benchmark",
    ),
    prose=(
        "The plan is written and I think it is small enough to land in one release.",
        (
            "Phase 1 puts a `Reader` trait between the walker and the matcher, which also cleans up the two special cases "
            "for stdin."
        ),
        (
            "I measured the candidate crates on the Linux kernel tarball and on a 2 GB zip of logs; the numbers are in the "
            "report."
        ),
        "What I'd like from you: a decision on path display before phase 3 starts.",
    ),
    bullets=(
        "phase 1: reader trait, 3 h",
        "phase 2: zip, 2 h",
        "phase 3: tar and path display, 4 h",
        "phase 4: docs and man page, 2 h",
    ),
    language="rust",
    code="pub trait Reader {\n    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + '_>>;\n}\n\n"
    "impl Reader for Plain {\n    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + '_>> "
    "{ Ok(Box::new(File::open(path)?)) }\n}",
    config='{"targets": ["x86_64-unknown-linux-musl", "aarch64-apple-darwin"], "profile": {"lto": true, "strip": true}}',
)

INFRA: Final = Job(
    project="platform-terraform",
    number=340,
    title="Move the queue workers to arm nodes",
    command="implement",
    agent="infra-implementer",
    worker="cloud-migration-worker",
    verdicts=(
        "Moved six of nine queue workers to arm nodes.",
        "Memory use fell by a fifth and the nightly cost by 31 percent.",
        "The image for the PDF worker has no arm build yet, so three workers stay where they are.",
        "Rollback is one variable, worker_arch.",
    ),
    files=(
        File(
            "implementation",
            "modules/workers/main.tf",
            "Node group and taints for arm",
            ("Adds a node group", "Taints keep amd64 pods away", "Spot share is 60 percent"),
        ),
        File(
            "implementation",
            "modules/workers/variables.tf",
            "The worker_arch switch",
            ("Defaults to arm64", "Validated against two values", "Documented in the README"),
        ),
        File(
            "documentation",
            "docs/runbooks/worker-arch.md",
            "How to roll back in five minutes",
            ("One variable", "One apply", "No data to move"),
        ),
    ),
    trouble=Trouble(
        "tool_unavailable",
        "TOOL_UNAVAILABLE",
        "No arm64 build of the PDF renderer image in the registry",
        "Publish an arm64 image of pdf-renderer, then resume with /implement 340",
    ),
    steps=(
        "Publish an arm64 image of pdf-renderer",
        "Apply the module in the second region",
        "Lower the amd64 node group's maximum to three",
    ),
    prose=(
        (
            "Six workers have been on arm since Tuesday night with no alerts. I compared queue latency for the two days "
            "before and after: p50 is the same, p99 is 4 ms better."
        ),
        "The PDF worker is the hold-out. Its base image bundles a renderer that is built for amd64 only.",
        "I kept both node groups for now; the old one scales to three at most.",
        "State was moved with `moved` blocks, so the plan shows no destroys.",
    ),
    bullets=("p99 latency 4 ms better", "cost of the group down 31 percent", "three workers still on amd64"),
    language="hcl",
    code='resource "aws_eks_node_group" "arm" {\n  capacity_type = "SPOT"\n  taint {\n    key    = "arch"\n'
    '    value  = "arm64"\n    effect = "NO_SCHEDULE"\n  }\n}',
    config='{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": "*"}]}',
)

MOBILE: Final = Job(
    project="trailmap-android",
    number=19,
    title="Offline maps lose their place after rotation",
    command="implement",
    agent="android-implementer",
    worker="mobile-bug-fixer",
    verdicts=(
        "Fixed the lost map position after rotation.",
        "The camera state now lives in the view model and survives process death.",
        "Added three instrumented tests; all pass on API 26 and 35.",
        "Startup is unchanged within measurement noise.",
    ),
    files=(
        File(
            "implementation",
            "app/src/main/java/org/trailmap/MapViewModel.kt",
            "Camera state in SavedStateHandle",
            ("Survives rotation", "Survives process death", "Writes at most once a second"),
        ),
        File(
            "implementation",
            "app/src/androidTest/java/org/trailmap/RotationTest.kt",
            "Three tests for rotation",
            ("Portrait to landscape", "Process death", "Split screen"),
        ),
        File(
            "summary",
            "specs/019_rotation/summaries/implementation-summary-20260302.md",
            "What changed and why",
            ("Cause found in onCreate", "Two files changed", "No API change"),
        ),
    ),
    trouble=Trouble(
        "build_error",
        "BUILD_ERROR",
        "Gradle sync fails: the maps SDK 12.1 needs compileSdk 36",
        "Raise compileSdk to 36 in app/build.gradle.kts and run /implement 19 again",
    ),
    steps=("Test on a foldable device", "Raise compileSdk to 36", "Remove the old onSaveInstanceState code"),
    prose=(
        (
            "The bug was in `onCreate`: the map was centred on the last known location before the saved state had been "
            "read, and the second call won."
        ),
        (
            "Moving the camera state into `SavedStateHandle` fixes rotation and also process death, which nobody had "
            "reported yet but which failed the same way."
        ),
        "I tried it on an emulator with API 26 and on a Pixel with API 35.",
        "Foldables I couldn't test, there was no image available here.",
    ),
    bullets=("one write per second at most", "no change to the tile cache", "three new instrumented tests"),
    language="kotlin",
    code="class MapViewModel(private val state: SavedStateHandle) : ViewModel() {\n"
    '    var camera: Camera\n        get() = state["camera"] ?: Camera.DEFAULT\n'
    '        set(value) { state["camera"] = value }\n}',
    config='{"project_info": {"project_number": "518203991", "project_id": "trailmap-dev"}, "configuration_version": "1"}',
)

DOCS: Final = Job(
    project="handbook",
    number=233,
    title="Rewrite the on-call chapter",
    command="implement",
    agent="doc-writer",
    worker="docs-editor",
    verdicts=(
        "Rewrote the on-call chapter around the five alerts that really page people.",
        "Removed eleven pages that described the retired alert system.",
        "Every command in the chapter was run once against staging.",
        "Two screenshots still show the old colours.",
    ),
    files=(
        File(
            "documentation",
            "handbook/on-call/index.md",
            "The chapter, from 23 pages to 9",
            ("Five alerts", "One page each", "Commands tested on staging"),
        ),
        File(
            "documentation",
            "handbook/on-call/first-hour.md",
            "What to do in the first hour of an incident",
            ("Checklist of eight items", "Names the roles", "Links the status page"),
        ),
    ),
    trouble=Trouble(
        "file_operation",
        "FILE_NOT_FOUND",
        "handbook/on-call/alerts.csv is named in the task but missing",
        "Restore alerts.csv or name its new place, then run /implement 233",
    ),
    steps=(
        "Ask the platform team to read the chapter",
        "Retake the two old screenshots",
        "Redirect the old page addresses",
    ),
    prose=(
        (
            "The chapter had grown by accretion: three generations of alerting were described side by side. I kept what "
            "pages people today and deleted the rest (it stays in git history)."
        ),
        "Each alert now has one page: what it means, how to confirm it, what to do, whom to call.",
        "I ran every command on staging and corrected four that no longer worked.",
        "The tone follows the style page: second person, present tense, no jokes in runbooks.",
    ),
    bullets=("23 pages became 9", "four commands corrected", "11 dead links removed"),
    language="bash",
    code='for pod in $(kubectl get pods -l app=ingest -o name); do\n  kubectl exec "${pod}" -- '
    "curl -s localhost:9090/healthz | jq '{status, lag}'\ndone",
    config='{"nav": [{"title": "On call", "path": "/on-call/"}], "search": {"enabled": true, "lang": ["en", "de"]}}',
)

MODEL: Final = Job(
    project="weather-nowcast",
    number=78,
    title="Why did validation loss jump at epoch 40",
    command="research",
    agent="ml-researcher",
    worker="experiment-analyst",
    verdicts=(
        "The loss jump at epoch 40 comes from the learning-rate restart, not from the data.",
        "Three reruns with a smaller restart keep the loss flat and end 4 percent better.",
        "A quarter of the radar frames in the new split are duplicates.",
        "The duplicates inflate validation skill by about one point.",
    ),
    files=(
        File(
            "report",
            "specs/078_loss_jump/reports/research-001.md",
            "Analysis of seven runs with plots",
            ("Restart explains the jump", "Duplicates found", "Seeds agree"),
        ),
        File(
            "documentation",
            "experiments/epoch40/README.md",
            "How to rerun the three experiments",
            ("One command each", "2.5 GPU hours each", "Configs checked in"),
        ),
    ),
    trouble=Trouble(
        "execution",
        "UNKNOWN_ERROR",
        "Run 6 of 7 was lost: the node was reclaimed at epoch 31",
        "Start run 6 again on an on-demand node with /research 78",
    ),
    steps=(
        "Lower the restart peak to 3e-4",
        "Drop the duplicate frames and rebuild the split",
        "Rerun the baseline for a fair comparison",
    ),
    prose=(
        (
            "I looked at the three usual suspects: data order, numerical trouble, schedule. Only the schedule moves when "
            "the jump moves."
        ),
        "With the restart peak at 3e-4 instead of 1e-3 the jump disappears in all three seeds.",
        (
            "While checking the data I noticed duplicated radar frames in the new split, around 26 percent of them. That's "
            "a separate problem, but it flatters our validation score."
        ),
        "All figures are in the report, with the commands that produced them.",
    ),
    bullets=("seeds 1, 2 and 3 agree", "fp32 and bf16 agree, so it's not numerics", "26 percent duplicate frames"),
    language="python",
    code="def schedule(step: int) -> float:\n    cycle = step // period\n"
    "    peak = {0: 1e-3}.get(cycle, 3e-4)\n    return peak * 0.5 * (1 + cos(pi * (step % period) / period))",
    config='{"lr": 0.001, "restart": {"period": 40, "peak": 0.0003}, "batch": 64, "amp": true, "notes": null}',
)

GAME: Final = Job(
    project="lanternfall",
    number=502,
    title="Stutter when the player enters the harbour",
    command="implement",
    agent="engine-implementer",
    worker="performance-squad-leader",
    verdicts=(
        "Removed the harbour stutter: streaming of the dock meshes now starts two rooms earlier.",
        "The worst frame went from 71 ms to 18 ms on the test machine.",
        "Memory peak rose by 40 MB, still inside the budget.",
        "Console builds were not measured.",
    ),
    files=(
        File(
            "implementation",
            "engine/streaming/prefetch.cpp",
            "Prefetch volumes with priorities",
            ("Two rooms ahead", "Cancels on turn back", "No allocation per frame"),
        ),
        File(
            "implementation",
            "content/levels/harbour/volumes.json",
            "Six prefetch volumes",
            ("Six volumes", "Tuned by hand", "Versioned with the level"),
        ),
        File(
            "report",
            "specs/502_harbour_stutter/reports/research-001.md",
            "Frame captures before and after",
            ("71 ms to 18 ms", "One spike left at the gate", "GPU was never the limit"),
        ),
    ),
    trouble=Trouble(
        "execution",
        "UNKNOWN_ERROR",
        "The capture tool crashes on the release build",
        "Use the profile build for captures and run /implement 502 again",
    ),
    steps=(
        "Measure the console builds",
        "Look at the remaining spike at the harbour gate",
        "Write a level-design note about prefetch volumes",
    ),
    prose=(
        "The stutter was I/O, not rendering: eleven dock meshes were requested in the same frame that first drew them.",
        "Prefetch volumes start the load two rooms earlier and are cancelled when the player turns back.",
        "I captured forty runs through the harbour before and after; the worst frame is now 18 ms.",
        "There's one smaller spike left at the gate (24 ms, once), which is shader compilation.",
    ),
    bullets=("worst frame 71 ms → 18 ms", "memory +40 MB", "gate spike is shader compilation"),
    language="cpp",
    code="for (auto& volume : volumes) {\n    if (volume.contains(player) && !volume.active) {\n"
    "        queue.push({volume.id, Priority::Ahead});\n        volume.active = true;\n    }\n}",
    config='{"level": "harbour", "volumes": [{"id": "dock_a", "min": [0, 0, 0], "max": [40, 12, 40]}]}',
)

FIRMWARE: Final = Job(
    project="meter-fw",
    number=61,
    title="Battery drains in three weeks instead of a year",
    command="research",
    agent="embedded-researcher",
    worker="firmware-analyst",
    verdicts=(
        "Found the drain: the radio never sleeps after a failed join.",
        "A retry every 10 s with no back-off costs 1.9 mA on average.",
        "A back-off up to one hour brings the estimate to 14 months.",
        "The flash layout does not need to change.",
    ),
    files=(
        File(
            "report",
            "specs/061_battery/reports/research-001.md",
            "Current traces and the join loop",
            ("1.9 mA in the loop", "4 µA asleep", "Back-off is enough"),
        ),
        File(
            "plan",
            "specs/061_battery/plans/implementation-001.md",
            "Back-off in two phases",
            ("Phase 1 is the timer", "Phase 2 is telemetry", "5 hours in total"),
        ),
    ),
    trouble=Trouble(
        "tool_unavailable",
        "TOOL_UNAVAILABLE",
        "The power analyser was not reachable on the bench",
        "Plug in the analyser and run /research 61 again",
    ),
    steps=(
        "Run /implement 61 for the back-off",
        "Measure one device for a week",
        "Ask the network team why joins fail in building C",
    ),
    prose=(
        "I went through the traces from the four returned devices. All four sit in the join loop.",
        (
            "After a failed join the firmware waits 10 s and tries again, for ever, with the radio's oscillator left on "
            "in between. That alone explains three weeks."
        ),
        "A back-off that doubles from 10 s to one hour is enough, no hardware change needed.",
        "I haven't looked at why the joins fail in the first place.",
    ),
    bullets=("1.9 mA average in the loop", "4 µA in real sleep", "all four devices show the same trace"),
    language="c",
    code="static void on_join_failed(void) {\n    delay = MIN(delay * 2, HOUR);\n    radio_sleep();\n"
    "    timer_start(&join_timer, delay, (ctx_t){ .tries = ++tries });\n}",
    config='{"region": "EU868", "adr": true, "join": {"retries": -1, "delay_s": 10}, "dev_eui": "70B3D57ED0051F2C"}',
)

BILLING: Final = Job(
    project="invoice-api",
    number=945,
    title="Credit notes in the public API",
    command="plan",
    agent="planner",
    worker="repo-research-analyst",
    verdicts=(
        "Planned credit notes for the public API in three phases.",
        "Numbering must be gapless per country, so a counter table comes first.",
        "The webhook format stays as it is.",
        "Legal still has to confirm the Italian rules.",
    ),
    files=(
        File(
            "plan",
            "specs/945_credit_notes/plans/implementation-001.md",
            "Three-phase plan with migration steps",
            ("Counter table first", "API second", "Back office last"),
        ),
        File(
            "report",
            "specs/945_credit_notes/reports/research-001.md",
            "Rules for six countries",
            ("Gapless numbers in four", "Italy is open", "VAT is copied, not computed"),
        ),
        File(
            "documentation",
            "docs/api/credit-notes.yaml",
            "OpenAPI draft of the two endpoints",
            ("POST and GET", "Idempotency key", "Errors as problem+json"),
        ),
    ),
    trouble=Trouble(
        "blocked",
        "UNKNOWN_ERROR",
        "Legal has not confirmed the numbering rules for Italy",
        "Wait for the answer in LEGAL-212 and run /plan 945 again",
    ),
    steps=(
        "Run /implement 945 once legal has answered",
        "Review the OpenAPI draft with two customers",
        "Create a task for the back-office screen",
    ),
    prose=(
        (
            "Credit notes look small but numbering makes them awkward: in four of our six countries the numbers may not "
            "have gaps, so they can't come from a sequence."
        ),
        "The plan starts with a counter table and a lock per country, then the two endpoints, then the back office.",
        "I wrote the OpenAPI draft already, because two customers have asked to see it.",
        "Italy is the open point. I've assumed the strictest reading for now.",
    ),
    bullets=("gapless numbering in DE, FR, IT and ES", "no change to webhooks", "9 hours in total"),
    language="json",
    code='{\n  "type": "object",\n  "properties": {\n    "number": {"type": "string"},\n'
    '    "status": {"enum": ["draft", "issued"]}\n  }\n}',
    config='{"id": "cn_1041", "object": "credit_note", "status": "issued", "lines": [{"amount": -1290}]}',
)

SECURITY: Final = Job(
    project="gatekeeper",
    number=7,
    title="Review of the token service",
    command="review",
    agent="reviewer",
    worker="security-sentinel",
    verdicts=(
        "Reviewed the token service: one high, two medium and five low findings.",
        "The high one lets an expired refresh token be used once more within 60 seconds.",
        "Follow-up tasks 8 and 9 were created for the high and the first medium finding.",
        "No secrets were found in the history.",
    ),
    files=(
        File(
            "report",
            "specs/007_token_review/reports/research-001.md",
            "Findings with evidence and severity",
            ("One high", "Two medium", "Five low"),
        ),
        File(
            "summary",
            "specs/007_token_review/summaries/review-summary-20260219.md",
            "Half a page for the owners",
            ("Fix the high one first", "Nothing leaked", "Next review in six months"),
        ),
    ),
    trouble=Trouble(
        "permission",
        "UNKNOWN_ERROR",
        "Read access to the audit log was refused",
        "Grant audit-log read access to the reviewer role and run /review 7 again",
    ),
    steps=(
        "Fix the refresh-token grace period first",
        "Rotate the signing key after the fix",
        "Repeat the review in six months",
    ),
    prose=(
        (
            "I read the service, its tests and the last year of changes, and tried the obvious attacks against a local "
            "instance."
        ),
        (
            "The finding that matters: the grace period for refresh tokens is checked before expiry, so an expired token "
            "works once more if it's used within a minute."
        ),
        "The rest is hygiene: wide log lines, a missing rate limit on `/introspect`, old hashes in fixtures.",
        "I didn't test the admin console, it is out of scope here.",
    ),
    bullets=(
        "H1: refresh token accepted after expiry",
        "M1: no rate limit on `/introspect`",
        "M2: `alg` taken from the token header",
    ),
    language="go",
    code="func (s *Store) Refresh(t Token) (Pair, error) {\n\tif s.inGrace(t) {\n\t\treturn s.rotate(t)\n\t}\n"
    "\tif t.Expired() {\n\t\treturn Pair{}, ErrExpired\n\t}\n\treturn s.rotate(t)\n}",
    config='{"alg": "ES256", "kid": "2026-01", "use": "sig", "status": "active", "errors": []}',
)

JOBS: Final = (LEAN, OAUTH, ETL, RUST, INFRA, MOBILE, DOCS, MODEL, GAME, FIRMWARE, BILLING, SECURITY)
