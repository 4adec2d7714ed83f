"""A delegation, from admission to settlement: each room is a step of the way, for whoever does the work.

    admission    who may ask for what: guard, ticket, lineage · limits, terms · lifecycle, inputs, variables
    briefing     what is said to the agent
    driving      supervisor: line, together → drive: launching, watching, allowance · functions of this process
    judging      judgement of an answer, with what is on disk → endings: what became of the delegation
    reporting    report: all that is told of it → result: what its caller gets · fitting it into a budget

Three ways to have it done: `local` is this machine, under the `shim`; `cluster` is many; in `hooks` a harness runs
its own agents, and Remit admits, guards and judges them. The first two are backends.
"""
