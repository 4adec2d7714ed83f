// Installed by remit hooks install opencode, removed by remit hooks uninstall. sha256:a35b1e893e0dc0398abf7228ec80575f4d119148ed317f3fc2735e9ad120989f
// Remit in opencode: what its sessions are about to do and what their subagents send back is put to `remit hook opencode`.
// Nothing is decided here. A question that gets no clear answer is answered with no, and the reason is said; only what
// a person's own session does, which Remit merely writes down, goes on.
// Needs nothing but what opencode brings: no package is fetched for it.

import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { basename, isAbsolute } from "node:path"
import { fileURLToPath } from "node:url"

const COMMAND = ["remit", "hook", "opencode"] // what is asked: `remit hooks install opencode` puts whole paths here
const WAIT_MS = 60000 // the program has a deadline of its own below this
const MAX_ANSWER = 4 * 1024 * 1024
const REFUSED = 126 // how Remit's shell ends without a ticket
const MAX_ROUNDS = 8 // the program ends the rounds earlier; this holds even if it never did
const SHELLS = fileURLToPath(new URL("../../.remit/confine/", import.meta.url)) // what starts commands in their limits
const OTHER_SHELLS = ["powershell", "pwsh", "cmd"] // and what it cannot become
const OWN_TOOLS = new Set(["apply_patch", "plan_enter", "plan_exit"]) // with a line like a server's tool has

const shell = { started: "", own: "" } // what opencode starts for commands, and what it would without Remit

// Ask the program about an event. Gives its answer, {} where it has nothing to say; throws where there is none.
function ask(event) {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, REMIT_SHELL: shell.started }
    const child = spawn(COMMAND[0], COMMAND.slice(1), { cwd: event.cwd, env, stdio: ["pipe", "pipe", "pipe"] })
    let said = ""
    let complaint = ""
    const timer = setTimeout(() => {
      child.kill("SIGKILL")
      reject(new Error(`no answer within ${WAIT_MS / 1000} s`))
    }, WAIT_MS)
    child.stdout.setEncoding("utf8").on("data", (text) => {
      said += text
      if (said.length > MAX_ANSWER) child.kill("SIGKILL")
    })
    child.stderr.setEncoding("utf8").on("data", (text) => {
      complaint = (complaint + text).slice(-2000)
    })
    child.on("error", reject)
    child.on("close", (code, signal) => {
      clearTimeout(timer)
      if (code !== 0) return reject(new Error(complaint.trim().split("\n").at(-1) || `it ended with ${signal ?? code}`))
      try {
        const answer = said.trim() ? JSON.parse(said) : {}
        if (answer === null || typeof answer !== "object" || Array.isArray(answer)) throw new Error("no object")
        resolve(answer)
      } catch {
        reject(new Error("the answer cannot be read"))
      }
    })
    child.stdin.on("error", () => {}) // a program that ends without reading is told by its exit code
    child.stdin.end(JSON.stringify(event))
  })
}

// What the subagent said, and what opencode puts around it: by that the caller can have it go on.
function split(output) {
  const [open, close] = ["<task_result>", "</task_result>"]
  const [begin, end] = [output.indexOf(open), output.lastIndexOf(close)]
  if (begin < 0 || end < begin) return ["", output, ""]
  const start = begin + open.length
  return [`${output.slice(0, start)}\n`, output.slice(start, end).trim(), `\n${output.slice(end)}`]
}

function joinTexts(parts) {
  return (parts ?? []).filter((part) => part.type === "text" && part.text).map((part) => part.text).join("\n")
}

const sanitize = (name) => name.replace(/[^a-zA-Z0-9_-]/g, "_")

export const Remit = async ({ client, directory }) => {
  const known = new Map() // session → { root, agent, child }
  const greeted = new Set() // root sessions whose first message was told
  const corrected = new Set() // subagents that are just being sent back
  const tickets = new Map() // call → the ticket of its command, or nothing
  const prompts = new Map() // call → the words of whoever called, before something was added for the subagent

  async function findSession(id) {
    if (known.has(id)) return known.get(id)
    const { data } = await client.session.get({ path: { id } })
    if (!data) throw new Error(`the session ${id} is not known`)
    const above = data.parentID ? await findSession(data.parentID) : null
    const found = { root: above ? above.root : id, agent: above ? (data.agent ?? "") : "", child: Boolean(above) }
    known.set(id, found)
    return found
  }

  // An event in the shape that all harnesses share: a subagent is known by its own session within the root's.
  function makeEvent(name, id, session, more) {
    const who = session.child ? { agent_id: id, agent_type: session.agent } : {}
    return { hook_event_name: name, session_id: session.root, cwd: directory, ...who, ...more }
  }

  // Tools of MCP servers by the name that rules use for them.
  async function nameTool(tool) {
    if (!tool.includes("_") || OWN_TOOLS.has(tool)) return tool
    const { data } = await client.mcp.status()
    const servers = Object.keys(data ?? {}).sort((one, other) => other.length - one.length)
    const server = servers.find((name) => tool.startsWith(`${sanitize(name)}_`))
    return server === undefined ? tool : `mcp__${server}__${tool.slice(server.length + 1)}`
  }

  async function warn(message) {
    await client.app.log({ body: { service: "remit", level: "warn", message } }).catch(() => {})
  }

  // What merely is written down: without an answer the work goes on.
  async function tell(event) {
    try {
      const answer = await ask(event)
      if (answer.systemMessage) await warn(answer.systemMessage)
      return answer
    } catch (error) {
      await warn(`Remit did not hear of ${event.hook_event_name}: ${error.message}`)
      return {}
    }
  }

  // A return is checked, and sent back to the session that gave it for as long as the program says so.
  async function checkReturn(input, output, session, answered) {
    const id = output.metadata?.sessionId ?? ""
    const given = { agent_id: id, agent_type: input.args?.subagent_type ?? "", tool_use_id: input.callID }
    let text = answered
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const said = { last_assistant_message: text, stop_hook_active: round > 0 }
      const event = { hook_event_name: "SubagentStop", session_id: session.root, cwd: directory, ...given, ...said }
      const answer = await ask(event)
      if (answer.decision !== "block") return text
      const parts = [{ type: "text", text: answer.reason ?? "" }]
      const body = { agent: given.agent_type, model: output.metadata?.model, parts }
      corrected.add(id)
      const { data, error } = await client.session.prompt({ path: { id }, body }).finally(() => corrected.delete(id))
      if (!data) throw new Error(`the subagent could not be asked again: ${JSON.stringify(error)}`)
      text = joinTexts(data.parts)
    }
    return text
  }

  async function endTask(input, output, session) {
    const [head, answered, tail] = split(String(output.output ?? ""))
    const text = await checkReturn(input, output, session, answered)
    const content = [{ type: "text", text }]
    const agentId = output.metadata?.sessionId ?? ""
    const response = { status: "completed", agentId, agentType: input.args?.subagent_type ?? "", content }
    const more = { tool_name: input.tool, tool_input: input.args ?? {}, tool_use_id: input.callID, tool_response: response }
    const answer = await ask(makeEvent("PostToolUse", input.sessionID, session, more))
    const instead = answer.hookSpecificOutput?.updatedToolOutput
    output.output = `${head}${instead === undefined ? text : joinTexts(instead.content)}${tail}`
  }

  // A ticket for what the user starts themself in opencode: a line behind "!", a terminal.
  async function findFreeTicket(sessionID) {
    const given = { tool_name: "bash", tool_input: { command: "" }, tool_use_id: "" }
    const answer = await tell(makeEvent("PreToolUse", "", { root: sessionID ?? "", child: false }, given))
    return answer.hookSpecificOutput?.commandTicket
  }

  return {
    // Commands are started by a shell of Remit's, which becomes the user's own one within the limits of its ticket.
    config: async (config) => {
      const own = config.shell || process.env.SHELL || "bash"
      const name = basename(own).toLowerCase()
      const kind = { bash: "bash", zsh: "zsh", fish: "bash", nu: "bash" }[name] ?? "sh" // opencode takes no fish or nu
      if (OTHER_SHELLS.includes(name.replace(".exe", "")) || !existsSync(SHELLS + kind)) return
      shell.own = kind === name || kind === "sh" ? own : kind
      shell.started = config.shell = SHELLS + kind
    },

    // A command without a ticket is not run while an agent is at work that has to be confined.
    "shell.env": async (input, output) => {
      if (!shell.started) return
      const known = tickets.has(input.callID)
      const ticket = known ? tickets.get(input.callID) : await findFreeTicket(input.sessionID)
      if (ticket) output.env.REMIT_COMMAND_TICKET = ticket
      if (isAbsolute(shell.own)) output.env.REMIT_COMMAND_SHELL = shell.own
    },

    // A subagent that failed, or was stopped, has no end but this.
    event: async ({ event }) => {
      const part = event.type === "message.part.updated" ? event.properties.part : null
      if (part?.type !== "tool" || part.tool !== "task" || part.state.status !== "error") return
      const session = await findSession(part.sessionID).catch(() => null)
      const more = { tool_name: part.tool, tool_input: part.state.input ?? {}, tool_use_id: part.callID }
      const name = "PostToolUseFailure"
      if (session) await tell(makeEvent(name, part.sessionID, session, { ...more, error: String(part.state.error) }))
    },

    "chat.message": async (input, output) => {
      if (greeted.has(input.sessionID) || corrected.has(input.sessionID)) return
      try {
        const session = await findSession(input.sessionID)
        if (!session.child) greeted.add(input.sessionID)
        const name = session.child ? "UserPromptSubmit" : "SessionStart"
        const more = session.child ? { prompt: joinTexts(output.parts) } : { source: "startup" }
        await tell(makeEvent(name, input.sessionID, session, more))
      } catch (error) {
        await warn(`Remit does not know who ${input.sessionID} is: ${error.message}`)
      }
    },

    // What the subagent was told besides is none of the caller's context, where opencode would keep it.
    "experimental.chat.messages.transform": async (_, { messages }) => {
      for (const part of messages.flatMap((message) => message.parts))
        if (prompts.has(part.callID) && part.state?.input) part.state.input.prompt = prompts.get(part.callID)
    },

    "tool.execute.before": async (input, output) => {
      let session = null
      let answer = {}
      try {
        session = await findSession(input.sessionID)
        const more = { tool_name: await nameTool(input.tool), tool_input: output.args ?? {}, tool_use_id: input.callID }
        answer = await ask(makeEvent("PreToolUse", input.sessionID, session, more))
      } catch (error) {
        const reason = `Remit could not decide about this call, so it is refused: ${error.message}`
        if (session === null || session.child || input.tool === "task") throw new Error(reason)
        await warn(reason.replace("refused", "let through"))
      }
      const decision = answer.hookSpecificOutput ?? {}
      tickets.set(input.callID, decision.commandTicket)
      // There is nobody whom a plugin could ask.
      if (["deny", "ask"].includes(decision.permissionDecision) || answer.decision === "block")
        throw new Error(decision.permissionDecisionReason ?? answer.reason ?? "Remit refused this call")
      if (!decision.updatedInput) return
      prompts.set(input.callID, output.args.prompt)
      Object.assign(output.args, decision.updatedInput)
    },

    "tool.execute.after": async (input, output) => {
      try {
        const session = await findSession(input.sessionID)
        if (input.tool === "task") return await endTask(input, output, session)
        const response = { output: String(output.output ?? "").slice(0, 2000), exit: output.metadata?.exit }
        const more = { tool_name: await nameTool(input.tool), tool_input: input.args ?? {}, tool_use_id: input.callID }
        if (tickets.get(input.callID)) more.command_ticket = tickets.get(input.callID)
        tickets.delete(input.callID)
        const name = response.exit ? "PostToolUseFailure" : "PostToolUse"
        if (response.exit && response.exit !== REFUSED) more.error = `Exit code ${response.exit}`
        await tell(makeEvent(name, input.sessionID, session, { ...more, tool_response: response }))
      } catch (error) {
        if (input.tool !== "task") return await warn(`Remit did not hear of ${input.tool}: ${error.message}`)
        const where = output.metadata?.sessionId ? ` It stands in the session ${output.metadata.sessionId}.` : ""
        output.output = `Remit could not check this return, so it is withheld: ${error.message}.${where} Count on nothing of it before you have looked.`
      }
    },
  }
}
