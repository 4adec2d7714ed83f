// Installed by remit hooks install opencode, removed by remit hooks uninstall. sha256:e6072eb02b2b7a095cedd5a2c0134adcdc254c2efa9f0cdc042f246a63ca4a5f
// Remit in opencode: sends tool calls of sessions and returns of subagents to `remit hook opencode`.
// Nothing is decided here. Without a clear answer, a call is refused with the reason; only tool calls of the user's own
// session, which Remit only records, continue.
// Needs only the modules that opencode provides, so no package is fetched.

import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { basename, isAbsolute } from "node:path"
import { fileURLToPath } from "node:url"

const COMMAND = ["remit", "hook", "opencode"] // `remit hooks install opencode` writes absolute paths here
const WAIT_MS = 60000 // the program has a shorter time limit of its own
const CHECK_SECONDS = 0 // how much longer it may take for acceptance checks; `remit hooks install opencode` sets it
const CHECKING = ["SubagentStop", "PostToolUse"] // the events at which a return is judged
const MAX_ANSWER = 4 * 1024 * 1024
const REFUSED = 126 // the exit code of Remit's shell without a ticket
const MAX_ROUNDS = 8 // a backstop: the program ends the rounds earlier
const SHELLS = fileURLToPath(new URL("../../.remit/confine/", import.meta.url)) // they start commands with limits
const OTHER_SHELLS = ["powershell", "pwsh", "cmd"] // shells that Remit can't start
const OWN_TOOLS = new Set(["apply_patch", "plan_enter", "plan_exit"]) // with an underscore, like server tools

const shell = { started: "", own: "" } // the shell that opencode starts for commands, and the one without Remit

// Send an event to the program. Return its answer, {} for an empty one; throw if there is none.
function callHook(event) {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, REMIT_SHELL: shell.started }
    const seconds = CHECKING.includes(event.hook_event_name) ? CHECK_SECONDS : 0
    const waitMs = WAIT_MS + 1000 * seconds
    const words = [...COMMAND.slice(1), ...(seconds ? [String(seconds)] : [])]
    const child = spawn(COMMAND[0], words, { cwd: event.cwd, env, stdio: ["pipe", "pipe", "pipe"] })
    let stdout = ""
    let stderr = ""
    const timer = setTimeout(() => {
      child.kill("SIGKILL")
      reject(new Error(`no answer within ${waitMs / 1000} s`))
    }, waitMs)
    child.stdout.setEncoding("utf8").on("data", (text) => {
      stdout += text
      if (stdout.length > MAX_ANSWER) child.kill("SIGKILL")
    })
    child.stderr.setEncoding("utf8").on("data", (text) => {
      stderr = (stderr + text).slice(-2000)
    })
    child.on("error", reject)
    child.on("close", (code, signal) => {
      clearTimeout(timer)
      if (code !== 0) return reject(new Error(stderr.trim().split("\n").at(-1) || `it ended with ${signal ?? code}`))
      try {
        const answer = stdout.trim() ? JSON.parse(stdout) : {}
        if (answer === null || typeof answer !== "object" || Array.isArray(answer)) throw new Error("not an object")
        resolve(answer)
      } catch {
        reject(new Error("the answer isn't a JSON object"))
      }
    })
    child.stdin.on("error", () => {}) // the exit code shows that a program ended without reading
    child.stdin.end(JSON.stringify(event))
  })
}

// Return the subagent's answer and opencode's text around it, with which the caller can continue the subagent.
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
  const greeted = new Set() // root sessions whose first message was reported
  const corrected = new Set() // subagents that are being sent back
  const tickets = new Map() // call → the ticket of its command, or undefined
  const prompts = new Map() // call → the caller's prompt without the instructions for the subagent

  async function findSession(id) {
    if (known.has(id)) return known.get(id)
    const { data } = await client.session.get({ path: { id } })
    if (!data) throw new Error(`the session ${id} is unknown`)
    const above = data.parentID ? await findSession(data.parentID) : null
    const found = { root: above ? above.root : id, agent: above ? (data.agent ?? "") : "", child: Boolean(above) }
    known.set(id, found)
    return found
  }

  // Return an event in the format that all harnesses share. The agent id of a subagent is its session.
  function makeEvent(name, id, session, more) {
    const agent = session.child ? { agent_id: id, agent_type: session.agent } : {}
    return { hook_event_name: name, session_id: session.root, cwd: directory, ...agent, ...more }
  }

  // Return the name of a tool; for a tool of an MCP server, the name that rules use.
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

  // Send an event that Remit only records: without an answer, the session continues.
  async function report(event) {
    try {
      const answer = await callHook(event)
      if (answer.systemMessage) await warn(answer.systemMessage)
      return answer
    } catch (error) {
      await warn(`Remit didn't record ${event.hook_event_name}: ${error.message}`)
      return {}
    }
  }

  // Check a return, and send it back to its session as long as the program rejects it.
  async function checkReturn(input, output, session, answered) {
    const id = output.metadata?.sessionId ?? ""
    const agent = { agent_id: id, agent_type: input.args?.subagent_type ?? "", tool_use_id: input.callID }
    let text = answered
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const message = { last_assistant_message: text, stop_hook_active: round > 0 }
      const event = { hook_event_name: "SubagentStop", session_id: session.root, cwd: directory, ...agent, ...message }
      const answer = await callHook(event)
      if (answer.decision !== "block") return text
      const parts = [{ type: "text", text: answer.reason ?? "" }]
      const body = { agent: agent.agent_type, model: output.metadata?.model, parts }
      corrected.add(id)
      const { data, error } = await client.session.prompt({ path: { id }, body }).finally(() => corrected.delete(id))
      if (!data) throw new Error(`the subagent couldn't be sent back: ${JSON.stringify(error)}`)
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
    const answer = await callHook(makeEvent("PostToolUse", input.sessionID, session, more))
    const instead = answer.hookSpecificOutput?.updatedToolOutput
    output.output = `${head}${instead === undefined ? text : joinTexts(instead.content)}${tail}`
  }

  // Return a ticket for a command that the user starts in opencode: a line after "!", or a terminal.
  async function findFreeTicket(sessionID) {
    const call = { tool_name: "bash", tool_input: { command: "" }, tool_use_id: "" }
    const answer = await report(makeEvent("PreToolUse", "", { root: sessionID ?? "", child: false }, call))
    return answer.hookSpecificOutput?.commandTicket
  }

  return {
    // opencode starts commands in Remit's shell, which becomes the user's own shell with the limits of the ticket.
    config: async (config) => {
      const own = config.shell || process.env.SHELL || "bash"
      const name = basename(own).toLowerCase()
      const kind = { bash: "bash", zsh: "zsh", fish: "bash", nu: "bash" }[name] ?? "sh" // it doesn't support fish, nu
      if (OTHER_SHELLS.includes(name.replace(".exe", "")) || !existsSync(SHELLS + kind)) return
      shell.own = kind === name || kind === "sh" ? own : kind
      shell.started = config.shell = SHELLS + kind
    },

    // A command without a ticket isn't run while an agent that has to be confined is running.
    "shell.env": async (input, output) => {
      if (!shell.started) return
      const known = tickets.has(input.callID)
      const ticket = known ? tickets.get(input.callID) : await findFreeTicket(input.sessionID)
      if (ticket) output.env.REMIT_COMMAND_TICKET = ticket
      if (isAbsolute(shell.own)) output.env.REMIT_COMMAND_SHELL = shell.own
    },

    // There is no other event for a subagent that failed or was stopped.
    event: async ({ event }) => {
      const part = event.type === "message.part.updated" ? event.properties.part : null
      if (part?.type !== "tool" || part.tool !== "task" || part.state.status !== "error") return
      const session = await findSession(part.sessionID).catch(() => null)
      const more = { tool_name: part.tool, tool_input: part.state.input ?? {}, tool_use_id: part.callID }
      const name = "PostToolUseFailure"
      if (session) await report(makeEvent(name, part.sessionID, session, { ...more, error: String(part.state.error) }))
    },

    "chat.message": async (input, output) => {
      if (greeted.has(input.sessionID) || corrected.has(input.sessionID)) return
      try {
        const session = await findSession(input.sessionID)
        if (!session.child) greeted.add(input.sessionID)
        const name = session.child ? "UserPromptSubmit" : "SessionStart"
        const more = session.child ? { prompt: joinTexts(output.parts) } : { source: "startup" }
        await report(makeEvent(name, input.sessionID, session, more))
      } catch (error) {
        await warn(`Remit can't identify the session ${input.sessionID}: ${error.message}`)
      }
    },

    // Keep the subagent's instructions out of the caller's context.
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
        answer = await callHook(makeEvent("PreToolUse", input.sessionID, session, more))
      } catch (error) {
        const reason = `Remit couldn't check this call, so it is refused: ${error.message}`
        if (session === null || session.child || input.tool === "task") throw new Error(reason)
        await warn(reason.replace("is refused", "runs unchecked"))
      }
      const decision = answer.hookSpecificOutput ?? {}
      tickets.set(input.callID, decision.commandTicket)
      // A plugin can't ask the user.
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
        await report(makeEvent(name, input.sessionID, session, { ...more, tool_response: response }))
      } catch (error) {
        if (input.tool !== "task") return await warn(`Remit didn't record ${input.tool}: ${error.message}`)
        const where = output.metadata?.sessionId ? ` The session ${output.metadata.sessionId} contains it.` : ""
        output.output = `Remit couldn't check this return, so it is withheld: ${error.message}.${where} Don't rely on it before you have checked it.`
      }
    },
  }
}
