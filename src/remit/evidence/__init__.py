"""Evidence: what is really on disk, before and after an agent worked there, and what that makes of its claims.

`tree` takes the work tree as git trees, with a private repository (`area`) and fixed ignore rules (`rules`);
`comparison` lists what changed between two of them; `grades` says what they make of a claimed file. `artifacts` finds
claimed paths, `facts` fetches what the contract asks for.
"""
