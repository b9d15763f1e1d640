package synth

import (
	"fmt"
	"strconv"
	"strings"
)

const sampleModel = "quill-30b"

// strand is one agent at work inside a rollout: the first one, or one it called.
type strand struct {
	invocation
	prompt  string // JSON string
	history []byte // items or messages of the next request
	before  string // responses: the answer that the next request continues
	turns   int
	tools   int
	context int // prompt tokens before what history adds
	seen    int // prompt tokens of the last answered call
}

// scribe writes one rollout of the sample run.
type scribe struct {
	rng
	e        *episode
	task     *sampleTask
	key      string // names calls and answers of this rollout
	ids      string
	dialect  string
	captured bool // the model server kept the calls, bodies included
	observed bool // the harness reported observations, from which turns were derived
	began    int64
	clock    int64
	output   []byte // of the row's response
	calls    []byte
	summary  []byte // members of the capture's calls
	turns    []byte
	runs     []byte // tool calls of the trajectory
	seenRuns []byte // the same as observations
	gaps     []byte
	helpers  []byte // finished invocations of other agents
	numTurns int    // as ng_perf counts them
	numRuns  int
	numCalls int
	usage    sums // calls of turns
	all      sums
	owned    sums
}

// playEpisode returns the row of an episode that began at the given time (Unix
// milliseconds), and when it ended. again tells a second play from the first.
func playEpisode(e *episode, began int64, again int) ([]byte, int64) {
	t := &sampleTasks[e.task]
	s := &scribe{
		rng: seeded(sampleSeed, uint64(e.task*100+e.repeat*10+again)), e: e, task: t,
		ids:   `"task_id":"` + t.id + `","rollout_id":"` + strconv.Itoa(e.task) + "-" + strconv.Itoa(e.repeat) + `"`,
		began: began, clock: began + 2600, usage: noSums(), all: noSums(), owned: noSums(),
	}
	s.key = fmt.Sprintf("%06x", s.next()>>40)
	root := &strand{invocation: invocation{id: "root", status: "completed"}, prompt: quoted(t.prompt)}
	switch t.agent {
	case "opencode":
		s.dialect, s.captured, s.observed, root.context = "responses", true, e.task == taskRetry && e.repeat == 0, 2140
	case "hermes":
		s.dialect, s.captured, root.context = "chat", true, 1310
		s.gap("tool_timing_unavailable", "root", "")
		s.gap("conversation_unavailable", "", "")
	default:
		s.dialect, root.context = "chat", 890
		s.gap("conversation_unavailable", "", "")
	}
	s.open(root)
	steps := t.pickSteps(e)
	for i := range steps {
		s.step(root, &steps[i], i == len(steps)-1)
	}
	switch e.kind {
	case EndedFailed:
		s.failed(root, 503, "upstream_error", "the worker was restarted")
	case AllFailed:
		s.failed(root, 503, "upstream_error", "no worker is ready")
	case NoTurns:
		root.status, root.failure = "failed", "terminal_lost"
		s.gap("model_calls_unavailable", "", "")
	}
	root.took = s.clock - s.began - 2600
	return s.row(root)
}

// pickSteps returns the steps of the episode's script.
func (t *sampleTask) pickSteps(e *episode) []step {
	var steps []step
	if e.kind == NoTurns {
		return nil
	}
	for _, n := range t.scripts[e.script] {
		steps = append(steps, t.steps[n])
	}
	if e.quirk == unansweredCall {
		steps = steps[:2]
	}
	return steps
}

func (s *scribe) gap(code, invocationID, detail string) {
	s.gaps = appendGap(comma(s.gaps), code, invocationID, detail)
}

// open begins a strand with its prompt.
func (s *scribe) open(a *strand) {
	if s.dialect == "responses" {
		a.conversation = appendEasyMessage(nil, full, "user", a.prompt)
	}
	if s.dialect == "responses" {
		a.history = appendEasyMessage(nil, sparse, "user", a.prompt)
	} else {
		a.history = append(append([]byte(`{"role":"user","content":`), a.prompt...), '}')
	}
}

// words estimates the tokens of a text.
func words(texts ...string) int {
	n := 0
	for _, t := range texts {
		n += (len(t) + 3) / 4
	}
	return n
}

// newCall begins the next call of a strand.
func (s *scribe) newCall(a *strand) call {
	s.numCalls++
	id := s.key + "-" + strconv.Itoa(s.numCalls)
	c := call{
		responseID: "resp-" + id, server: policyServer, model: sampleModel, dialect: s.dialect, status: 200,
		started: s.clock, prompt: a.context + words(string(a.history)), cached: a.seen / 64 * 64, reasoning: 0,
	}
	if s.captured {
		c.id = "mc-" + id
		c.request = s.request(a)
	}
	return c
}

func (s *scribe) request(a *strand) []byte {
	b := []byte(`{"model":"` + sampleModel + `","messages":[`)
	end := `],"max_tokens":8192}`
	if s.dialect == "responses" {
		b = []byte(`{"model":"` + sampleModel + `","previous_response_id":`)
		b = append(appendOptional(b, a.before), `,"input":[`...)
		end = `],"max_output_tokens":8192}`
	}
	return append(append(b, a.history...), end...)
}

// keep adds a finished call to those of the trajectory and of the capture.
func (s *scribe) keep(c *call, owned bool) {
	s.calls = c.appendTrajectory(comma(s.calls))
	s.summary = c.appendCapture(comma(s.summary), s.all.calls)
	s.all.add(c)
	if owned {
		s.owned.add(c)
	}
}

// failed adds a call that brought an error instead of an answer. The harness
// makes a turn of it only when it has no other to show.
func (s *scribe) failed(a *strand, status int, category, message string) {
	c := s.newCall(a)
	c.responseID, c.status, c.failure = "", status, category
	c.prompt, c.completion, c.reasoning, c.cached, c.first = unknown, unknown, unknown, unknown, unknown
	c.took = int64(s.between(80, 900))
	c.response = []byte(`{"error":{"message":"` + message + `","code":` + strconv.Itoa(status) + `}}`)
	s.clock += c.took
	a.refs = c.appendRef(comma(a.refs))
	s.keep(&c, true)
	if s.e.kind == AllFailed {
		s.turn(a, &turn{at: c.started, question: []byte(a.prompt), refs: c.appendRef(nil)}, true)
	}
	s.clock += int64(s.between(9000, 14000))
}

// step plays one step of a strand: a model call, its turn and its tool call.
func (s *scribe) step(a *strand, st *step, last bool) {
	fault := Healthy // what goes wrong in this step
	if last && a.parent == "" {
		fault = s.e.kind
	}
	if fault == Retried {
		s.failed(a, 429, "rate_limit", "too many requests, try again in 10 s")
	}
	c := s.newCall(a)
	id := s.key + "-" + strconv.Itoa(s.numCalls)
	say, think, tool := st.say, st.think, st.tool
	if s.e.kind == EndedFailed && last {
		fault = Healthy
	}
	argument := ""
	if tool != "" {
		name, _ := sampleTool(tool)
		argument = `{"` + name + `":` + quoted(st.arg) + `}`
	}
	c.reasoning = words(think)
	c.completion = 4 + c.reasoning + words(say, argument)
	if think != "" {
		c.thought = quoted(think)
	}
	switch fault {
	case ZeroCompletion:
		say, think, tool, c.completion, c.reasoning, c.thought = "", "", "", 0, 0, ""
	case Runaway:
		say, think, tool, c.completion, c.reasoning, c.thought = "", "", "", 8192, 0, ""
	case Uncounted:
		c.prompt, c.cached = unknown, unknown
	}
	c.first = int64(s.between(180, 900))
	c.took = c.first + int64(min(c.completion, 3000)*17) + int64(s.between(100, 600))
	s.clock += c.took

	answer := s.answer(&c, id, say, think, tool, argument, fault)
	t := &turn{at: c.started, answer: answer.turn, reasoning: answer.reasoning}
	if s.observed {
		t.question = append(append([]byte{'['}, a.history...), ']')
	} else if a.turns == 0 {
		t.question = []byte(a.prompt)
	}
	if s.captured {
		c.response = answer.body
	}
	s.own(a, &c, t, fault)
	if fault == CheckError {
		t.answer = []byte(`{"type":["message","function_call"],"text":` + quoted(say) + `}`)
	}
	s.turn(a, t, last && a.parent == "" || s.e.quirk == unansweredCall && last)
	if c.prompt >= 0 {
		s.usage.add(&c)
		a.seen = c.prompt
	}

	if s.dialect == "responses" {
		a.before, a.history, a.context = c.responseID, nil, c.prompt+c.completion
	} else {
		a.history = append(a.history, answer.history...)
	}
	if s.dialect == "responses" {
		a.conversation = append(a.conversation, answer.conversation...)
	}
	if a.parent == "" {
		s.output = append(s.output, answer.output...)
	}
	if tool != "" {
		s.useTool(a, st, id, argument)
	} else {
		s.clock += 150
	}
}

// own keeps the call and refers to it from the turn and the strand, in the way
// the fault of the step asks for.
func (s *scribe) own(a *strand, c *call, t *turn, fault Kind) {
	switch fault {
	case LostCall:
		lost := c.id + "-lost"
		t.refs = appendLostRef(nil, lost)
		s.keep(c, false)
		s.gap("model_call_reference_unmatched", a.id, lost)
	case DoubledCall:
		t.refs = c.appendRef(nil)
		s.keep(c, false)
		again := *c
		again.started += 40
		s.keep(&again, false)
		s.gap("model_call_reference_ambiguous", a.id, c.responseID)
	default:
		t.refs = c.appendRef(nil)
		s.keep(c, true)
	}
	a.refs = append(comma(a.refs), t.refs...)
}

// turn adds a turn to a strand. The last turn of a rollout says whether the task
// was solved.
func (s *scribe) turn(a *strand, t *turn, last bool) {
	t.invocation, t.ids, t.no, t.steps = a.id, s.ids, a.turns+1, a.tools
	if last {
		t.resolved = strconv.FormatBool(s.e.reward == 1)
	}
	s.turns = t.append(comma(s.turns))
	a.turns++
	s.numTurns++
}

// useTool runs the tool of a step and hands its output back to the strand.
func (s *scribe) useTool(a *strand, st *step, id, argument string) {
	run := toolCall{invocation: a.id, id: "call_" + id, name: st.tool, sandbox: "sb-" + s.key, started: s.clock + 12, status: "completed"}
	if s.e.quirk == unansweredCall && a.tools == 1 {
		// The time of the agent ran out while the tool was at work.
		run.started, run.status, run.failure = 0, "timeout", "agent_run_timeout"
		s.addRun(a, &run)
		s.gap("tool_result_missing", a.id, run.id)
		s.clock += 600_000
		return
	}
	if len(st.sub) > 0 {
		s.delegate(a, st, run.id)
	}
	run.took = s.clock - run.started + int64(s.between(40, 2400))
	if st.failed {
		run.status, run.failure = "failed", "exit_code"
	}
	text := st.out
	if st.long {
		text = buildLog()
		run.took += 61_000
	}
	output := quoted(text)
	if st.image {
		output = `[{"type":"input_text","text":` + output + `},{"type":"input_image","image_url":"` + samplePicture + `","detail":"auto"}]`
	}
	run.output = []byte(output)
	s.clock = run.started + run.took + 30
	if !s.observed && s.captured {
		run.started = 0 // this harness keeps no times of its tools
	}
	s.addRun(a, &run)

	item := appendFunctionOutput(nil, id, output)
	if s.e.quirk == orphanOutput && a.tools == 1 {
		item = appendFunctionOutput(append(item, ','), s.key+"-0", quoted("(output of a call that was trimmed from the history)"))
	}
	if s.dialect == "responses" {
		a.conversation = append(append(a.conversation, ','), item...)
	}
	if a.parent == "" {
		s.output = append(append(s.output, ','), item...)
	}
	if s.dialect == "responses" {
		a.history = append(comma(a.history), item...)
	} else {
		a.history = append(append(a.history, `,{"role":"tool","tool_call_id":"call_`+id+`","content":`...), output...)
		a.history = append(a.history, '}')
	}
}

func (s *scribe) addRun(a *strand, run *toolCall) {
	s.runs = run.append(comma(s.runs), true)
	s.seenRuns = run.append(comma(s.seenRuns), false)
	a.tools++
	s.numRuns++
}

// delegate plays the steps of a second agent inside a tool call.
func (s *scribe) delegate(a *strand, st *step, toolCallID string) {
	sub := &strand{invocation: invocation{id: "explore-1", parent: a.id, spawnedBy: toolCallID, status: "completed"}, prompt: quoted(st.arg), context: 1100}
	began := s.clock
	s.open(sub)
	for i := range st.sub {
		s.step(sub, &st.sub[i], i == len(st.sub)-1)
	}
	sub.took = s.clock - began
	s.helpers = sub.append(append(s.helpers, ','))
}

// spoken is one answer of the model in the forms a row has.
type spoken struct {
	body                          []byte // of the model server
	turn, reasoning               []byte // of the trajectory's turn
	history, conversation, output []byte // members, each after a comma where one is needed; history in the chat dialect
}

func (s *scribe) answer(c *call, id, say, think, tool, argument string, fault Kind) spoken {
	var p spoken
	items := func(f form, tokens, logprobs string) []byte {
		var b []byte
		if think != "" {
			b = appendReasoning(b, f, id, quoted(think))
		}
		if say != "" {
			b = appendMessage(comma(b), f, id, quoted(say), tokens, logprobs)
		}
		if tool != "" {
			b = appendFunctionCall(comma(b), f, id, tool, quoted(argument))
		}
		return b
	}
	tokens, logprobs := "", ""
	if s.e.quirk == tokenIDs {
		w := writer{r: s.rng}
		fields := w.span(max(c.completion-c.reasoning, 1), true).fields
		// The ids of the prompt are not kept in this run.
		tokens = `"prompt_token_ids":[],` + fields[strings.Index(fields, `"generation_token_ids"`):]
		s.rng = w.r
	}
	if s.e.quirk == logProbs && tool == "" {
		logprobs = s.alternatives(say)
	}
	if b := items(sparse, tokens, logprobs); len(b) > 0 {
		p.output = b
		if len(s.output) > 0 {
			p.output = append([]byte{','}, b...)
		}
		p.conversation = append([]byte{','}, items(full, "", "")...)
	}
	if tool != "" {
		c.tools = appendCapturedTool(nil, id, tool, argument)
	}
	if s.dialect == "responses" {
		s.respond(c, &p, items(sparse, "", ""), id, say, think, tool, argument, fault)
		return p
	}
	s.complete(c, &p, id, say, think, tool, argument)
	return p
}

// respond gives an answer in the responses dialect.
func (s *scribe) respond(c *call, p *spoken, items []byte, id, say, think, tool, argument string, fault Kind) {
	c.state = "completed"
	incomplete := ""
	if fault == Runaway {
		c.state, c.finish = "incomplete", "max_output_tokens"
		incomplete = `"incomplete_details":{"reason":"max_output_tokens"},`
	}
	p.body = append(p.body, `{"id":"`+c.responseID+`","object":"response","created_at":`...)
	p.body = appendInt(p.body, int(c.started/1000))
	p.body = append(p.body, `,"model":"`+sampleModel+`","status":"`+c.state+`",`+incomplete+`"output":[`...)
	p.body = append(append(p.body, items...), `],"usage":`...)
	p.body = append(appendUsage(p.body, c.prompt, c.cached, c.completion, c.reasoning), '}')

	var said []byte
	if say != "" {
		said = appendMessage(said, sparse, id, quoted(say), "", "")
	}
	if tool != "" {
		said = appendFunctionCall(comma(said), sparse, id, tool, quoted(argument))
	}
	p.turn = append(append([]byte{'['}, said...), ']')
	if think != "" {
		p.reasoning = append(appendReasoning([]byte{'['}, sparse, id, quoted(think)), ']')
	}
}

// complete gives an answer in the chat dialect. A harness without captured
// bodies keeps the text alone as the answer of its turn.
func (s *scribe) complete(c *call, p *spoken, id, say, think, tool, argument string) {
	c.finish = "stop"
	text, calls, thought := quoted(say), "", ""
	if tool != "" {
		c.finish = "tool_calls"
		calls = `,"tool_calls":[{"id":"call_` + id + `","type":"function","function":{"name":"` + tool + `","arguments":` + quoted(argument) + `}}]`
	}
	if think != "" {
		p.reasoning = []byte(quoted(think))
		thought = `,"reasoning_content":` + quoted(think)
	}
	message := `{"role":"assistant","content":` + text + calls + `}`
	p.history = []byte("," + message)
	p.turn = []byte(message)
	if !s.captured {
		p.turn = []byte(text)
		return
	}
	p.body = append(p.body, `{"id":"`+c.responseID+`","object":"chat.completion","model":"`+sampleModel+`","choices":[{"index":0,"message":{"role":"assistant","content":`+text+thought+calls+`},"finish_reason":"`+c.finish+`"}],"usage":{"prompt_tokens":`...)
	p.body = appendInt(p.body, c.prompt)
	p.body = append(p.body, `,"completion_tokens":`...)
	p.body = appendInt(p.body, c.completion)
	p.body = append(p.body, `,"total_tokens":`...)
	p.body = appendInt(p.body, c.total())
	p.body = append(p.body, `,"prompt_tokens_details":{"cached_tokens":`...)
	p.body = appendInt(p.body, c.cached)
	p.body = append(p.body, `},"completion_tokens_details":{"reasoning_tokens":`...)
	p.body = appendInt(p.body, c.reasoning)
	p.body = append(p.body, `}}}`...)
}

// alternatives makes the logprobs of a text, one token a word, with the runner-up
// of each.
func (s *scribe) alternatives(text string) string {
	b := []byte{'['}
	entry := func(token string, millis int) {
		b = append(b, `"token":`...)
		b = appendQuoted(b, token)
		b = append(b, `,"logprob":-`...)
		b = appendDecimal(b, int64(millis), 3)
		b = append(b, `,"bytes":null`...)
	}
	others := strings.Fields("and the so then colours bars each shows")
	for i, token := range strings.SplitAfter(text, " ") {
		chance := s.between(1, 300)
		if s.below(6) == 0 {
			chance = s.between(900, 3200)
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		entry(token, chance)
		b = append(b, `,"top_logprobs":[{`...)
		entry(token, chance)
		b = append(b, `},{`...)
		entry(pick(&s.rng, others)+" ", s.between(1200, 5200))
		b = append(b, `}]}`...)
	}
	return string(append(b, ']'))
}
