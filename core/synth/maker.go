package synth

import (
	"fmt"
	"strconv"
)

const (
	model     = "synthetic-30b"
	firstWall = 1_767_225_600_000 // Unix milliseconds at which made-up runs begin
)

// Maker makes the rows of one run, in any order. It keeps scratch memory, so one
// Maker serves one goroutine; Makers of equal options make equal rows.
type Maker struct {
	options Options
	pool    *pool
	mean    int // mean budget of a row
	tools   string

	// Lists of the row in hand, members separated by commas.
	output, calls, turns, captured, refs, runs, talk []byte
	// Parts of one step.
	answer, request, response, made, turnRefs []byte
}

var (
	agents    = []string{"search_agent", "shell_agent", "math_agent"}
	toolNames = []string{"read_file", "run_command", "search_index", "submit_patch"}
)

// New returns the maker of a run.
func New(o Options) (*Maker, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	m := &Maker{options: o, pool: newPool(o.Seed, o.Mix)}
	for i, name := range toolNames {
		if i > 0 {
			m.tools += ","
		}
		m.tools += `{"type":"function","name":"` + name + `","description":` + m.pool.prose[i] +
			`,"parameters":{"type":"object","properties":{"path":{"type":"string"}}},"strict":true}`
	}
	m.calibrate()
	return m, nil
}

// calibrate finds the mean budget that gives rows of the wanted mean size. A row
// overshoots its budget by the part it has in any case and by the rest of its
// last step; how much, some rows that nobody asks for tell.
func (m *Maker) calibrate() {
	const (
		probes = 128
		enough = 32 << 10 // from here on the overshoot no longer depends on the budget
	)
	var line []byte
	size := func(budget int) int {
		m.mean = budget
		sum := 0
		for i := range probes {
			line = m.appendRow(line[:0], -1-i, Healthy, m.budget(i))
			sum += len(line) + 1
		}
		return sum / probes
	}
	want := m.options.MeanBytes
	if want > 2*enough {
		m.mean = want - (size(enough) - enough)
		return
	}
	low, high := 0, want
	for high-low > 64 {
		if middle := (low + high) / 2; size(middle) > want {
			high = middle
		} else {
			low = middle
		}
	}
	m.mean = low
}

// Kind returns what is right or wrong with row n.
func (m *Maker) Kind(n int) Kind {
	task := seeded(m.options.Seed, 1<<41|uint64(n/m.options.Repeats))
	if task.below(1000) < kinds[AllFailed].share {
		return AllFailed
	}
	row := seeded(m.options.Seed, 1<<42|uint64(n))
	roll := row.below(1000)
	for k := range Kind(KindCount) {
		if k == Healthy || k == AllFailed {
			continue
		}
		if roll < kinds[k].share {
			return k
		}
		roll -= kinds[k].share
	}
	return Healthy
}

// budget returns the size that row n should reach. The sizes of a run follow a
// long-tailed law with mean 1: most rows below the mean, the largest four times
// as large. Consecutive rows take well spread quantiles of it, so that even a
// short run comes near its mean. All in integers: floating point is not the same
// everywhere.
func (m *Maker) budget(n int) int {
	offset := seeded(m.options.Seed, 1<<43)
	u := (offset.next() + uint64(n)*0x9e3779b97f4a7c15) >> 48
	u9 := u
	for range 8 {
		u9 = u9 * u >> 16
	}
	// 0.3 + 0.35·(2u) + 0.35·(10u⁹), in 65536ths.
	quantile := int64(19661 + (22938*2*u+22938*10*u9)>>16)
	mean := int64(m.mean)
	return int(mean>>16*quantile) + int(mean&0xffff*quantile>>16)
}

// AppendRow appends row n, which must not be negative, without its line end.
func (m *Maker) AppendRow(dst []byte, n int) []byte {
	return m.appendRow(dst, n, m.Kind(n), m.budget(n))
}

// row is what the steps of one rollout share and add up.
type row struct {
	kind          Kind
	task, repeat  int
	ids           string // members task_id and rollout_id
	question      string
	clock         int64 // Unix milliseconds
	began         int64
	context       int // prompt tokens of the next call
	turns         int
	callsMade     int
	toolsRun      int
	all           sums // every captured call
	owned         sums // calls the agent refers to
	prompt        int  // usage: what the turns' calls add up to
	completion    int
	cached        int
	talkA, talkB  int // where the last two items of the conversation begin
	lost, doubled string
}

func (m *Maker) appendRow(dst []byte, n int, kind Kind, budget int) []byte {
	r := seeded(m.options.Seed, 1<<44|uint64(uint32(n)))
	place := max(n, -n)
	w := row{kind: kind, task: place / m.options.Repeats, repeat: place % m.options.Repeats, context: 300, all: noSums(), owned: noSums()}
	w.ids = fmt.Sprintf(`"task_id":"task-%d","rollout_id":"%d-%d"`, w.task, w.task, w.repeat)
	w.question = m.pool.questions[w.task%len(m.pool.questions)]
	w.began = firstWall + int64(place)*1900 + int64(r.below(1500))
	w.clock = w.began + 40
	m.output, m.calls, m.turns, m.captured = m.output[:0], m.calls[:0], m.turns[:0], m.captured[:0]
	m.refs, m.runs = m.refs[:0], m.runs[:0]
	m.talk = appendEasyMessage(m.talk[:0], full, "user", w.question)
	w.talkA, w.talkB = len(m.talk), len(m.talk)

	for step, last := 0, false; !last; step++ {
		last = m.size(kind) >= budget && step >= kind.leastSteps()-1 || kind == AllFailed
		if last && kind == Retried {
			m.failedCall(&r, &w, 429, "rate_limit")
		}
		m.step(&r, &w, last)
	}
	if kind == EndedFailed {
		m.failedCall(&r, &w, 503, "upstream_error")
	}
	return m.finish(dst, &r, &w)
}

// size returns how many bytes of the row in hand exist so far.
func (m *Maker) size(k Kind) int {
	n := len(m.output)
	if k.hasContent() {
		n += len(m.calls) + len(m.captured) + len(m.refs) + len(m.runs) + len(m.talk)
	}
	if k.hasTurns() {
		n += len(m.turns)
	}
	return n
}

// callID returns the name of the next call of the row.
func (w *row) callID() string {
	return "mc-" + strconv.Itoa(w.task) + "-" + strconv.Itoa(w.repeat) + "-" + strconv.Itoa(w.callsMade+1)
}

// capture adds a call to the row's captured calls.
func (m *Maker) capture(w *row, c *call, owned bool) {
	m.calls = c.appendTrajectory(comma(m.calls))
	m.captured = c.appendCapture(comma(m.captured), w.callsMade)
	w.callsMade++
	w.all.add(c)
	if owned {
		w.owned.add(c)
	}
}

func (m *Maker) makeRequest(w *row) {
	m.request = append(m.request[:0], `{"model":"`+model+`","input":[`...)
	m.request = appendEasyMessage(m.request, sparse, "user", w.question)
	m.request = append(m.request, m.talk[w.talkA:]...)
	m.request = append(m.request, `],"temperature":1.0,"max_output_tokens":8192}`...)
}

// failedCall adds a call that the agent made, that brought no answer and so no
// turn.
func (m *Maker) failedCall(r *rng, w *row, status int, category string) {
	m.makeRequest(w)
	c := call{
		id: w.callID(), server: policyServer, model: model, dialect: "responses", status: status, failure: category,
		started: w.clock, took: int64(r.between(100, 4000)), first: unknown,
		prompt: unknown, completion: unknown, reasoning: unknown, cached: unknown, request: m.request,
	}
	w.clock += c.took + int64(r.between(500, 8000))
	m.refs = c.appendRef(comma(m.refs))
	m.capture(w, &c, true)
}

// step adds one step: a model call, its turn and, unless it is the last one, a
// tool call with its output.
func (m *Maker) step(r *rng, w *row, last bool) {
	id := w.callID()
	passage := pick(r, m.pool.spans)
	said := pick(r, m.pool.prose)
	c := call{
		id: id, responseID: "resp_" + id, server: policyServer, model: model, dialect: "responses", status: 200, state: "completed",
		started: w.clock, took: int64(r.between(400, 6000)), prompt: w.context, completion: passage.tokens, reasoning: 0, cached: w.context / 2,
	}
	c.first = c.took * int64(r.between(5, 60)) / 100
	w.clock += c.took
	w.context += passage.tokens + r.between(10, 700)

	tool, args, result := "", argument{}, ""
	if !last {
		tool, args, result = pick(r, toolNames), pick(r, m.pool.arguments), pick(r, m.pool.outputs)
	}
	empty := false // whether the model said nothing
	if last {
		switch w.kind {
		case Hollow:
			empty, c.completion = true, 2
		case ZeroCompletion:
			c.completion = 0
		case Uncounted:
			c.prompt, c.cached = unknown, unknown
		case Runaway:
			empty, c.completion, c.state, c.finish = true, 8192, "incomplete", "max_output_tokens"
		case AllFailed:
			c = call{id: id, server: c.server, model: c.model, dialect: c.dialect, status: 503, failure: "upstream_error",
				started: c.started, took: c.took, first: unknown, prompt: unknown, completion: unknown, reasoning: unknown, cached: unknown}
		}
	}
	m.makeRequest(w)
	c.request = m.request

	m.answer = append(m.answer[:0], '[')
	if !empty {
		m.answer = appendMessage(m.answer, sparse, id, said, "", "")
		if tool != "" {
			m.answer = appendFunctionCall(append(m.answer, ','), sparse, id, tool, args.text)
		}
	}
	m.answer = append(m.answer, ']')
	answer := m.answer
	m.response = m.response[:0]
	switch {
	case w.kind == AllFailed:
		m.response = append(m.response, `{"error":{"message":"no healthy upstream","type":"server_error","code":503}}`...)
		answer = nil
	default:
		m.response = append(m.response, `{"id":"`+c.responseID+`","object":"response","created_at":`...)
		m.response = appendInt(m.response, int(c.started/1000))
		m.response = append(m.response, `,"model":"`+model+`","status":"`+c.state+`",`...)
		if c.finish != "" {
			m.response = append(m.response, `"incomplete_details":{"reason":"`+c.finish+`"},`...)
		}
		m.response = append(append(m.response, `"output":`...), m.answer...)
		m.response = append(m.response, `,"usage":`...)
		m.response = appendUsage(m.response, c.prompt, c.cached, c.completion, c.reasoning)
		m.response = append(m.response, '}')
	}
	c.response = m.response
	m.made = m.made[:0]
	if tool != "" {
		m.made = appendCapturedTool(m.made, id, tool, args.object)
	}
	c.tools = m.made
	m.own(w, &c, last)

	t := turn{invocation: "root", ids: w.ids, no: w.turns + 1, steps: w.toolsRun, at: c.started, answer: answer, refs: m.turnRefs}
	switch {
	case w.turns == 0:
		t.question = []byte(w.question)
	case w.turns%3 == 0 && !empty: // who thinks is not hollow
		t.reasoning = []byte(pick(r, m.pool.prose))
	}
	if last && w.kind == CheckError {
		t.answer = []byte(`{"type":["message","function_call"],"text":` + said + `}`)
	}
	m.turns = t.append(comma(m.turns))
	w.turns++
	if c.failure == "" {
		w.prompt += max(c.prompt, 0)
		w.completion += c.completion
		w.cached += max(c.cached, 0)
	}

	if !empty && w.kind != AllFailed {
		m.output = appendMessage(comma(m.output), sparse, id, said, passage.fields, "")
		w.talkA, w.talkB = w.talkB, len(m.talk)
		m.talk = appendMessage(append(m.talk, ','), full, id, said, "", "")
	}
	if tool != "" {
		m.runTool(r, w, id, tool, args, result)
	}
}

// own captures the call and refers to it from the turn and the invocation, in
// the way the kind of the row asks for.
func (m *Maker) own(w *row, c *call, last bool) {
	m.turnRefs = m.turnRefs[:0]
	switch {
	case last && w.kind == LostCall:
		w.lost = c.id + "-lost"
		m.turnRefs = appendLostRef(m.turnRefs, w.lost)
		m.capture(w, c, false)
	case last && w.kind == DoubledCall:
		// The same answer was captured twice and the agent knows it by its
		// response id alone.
		w.doubled = c.responseID
		m.turnRefs = c.appendPairRef(m.turnRefs)
		m.capture(w, c, false)
		again := *c
		again.id = w.callID()
		again.started += 3
		m.capture(w, &again, false)
	default:
		m.turnRefs = c.appendRef(m.turnRefs)
		m.capture(w, c, true)
	}
	m.refs = append(comma(m.refs), m.turnRefs...)
}

func (m *Maker) runTool(r *rng, w *row, id, name string, args argument, result string) {
	m.output = appendFunctionCall(append(m.output, ','), sparse, id, name, args.text)
	m.output = appendFunctionOutput(append(m.output, ','), id, result)
	w.talkA, w.talkB = w.talkB, len(m.talk)
	m.talk = appendFunctionCall(append(m.talk, ','), full, id, name, args.text)
	w.talkA, w.talkB = w.talkB, len(m.talk)
	m.talk = appendFunctionOutput(append(m.talk, ','), id, result)
	t := toolCall{invocation: "root", id: "call_" + id, name: name, started: w.clock + 5, took: int64(r.between(10, 3000)), status: "completed", output: []byte(result)}
	if r.below(12) == 0 {
		t.status, t.failure = "failed", "exit_code"
	}
	m.runs = t.append(comma(m.runs), true)
	w.clock = t.started + t.took + 20
	w.toolsRun++
}

// finish puts the parts of the row together.
func (m *Maker) finish(dst []byte, r *rng, w *row) []byte {
	difficulty, reward, masked := m.outcome(r, w)
	took := w.clock - w.began + int64(r.between(200, 2500))

	dst = append(dst, `{"responses_create_params":{"input":[`...)
	dst = appendEasyMessage(dst, sparse, "system", m.pool.system)
	dst = appendEasyMessage(append(dst, ','), sparse, "user", w.question)
	dst = append(append(dst, `],"tools":[`...), m.tools...)
	dst = append(dst, `]},"response":{"id":"resp_`...)
	dst = appendInt(dst, w.task)
	dst = appendInt(append(dst, '_'), w.repeat)
	dst = append(dst, `","object":"response","created_at":`...)
	dst = appendInt(dst, int(w.began/1000))
	dst = append(dst, `,"model":"`+model+`","output":[`...)
	dst = append(dst, m.output...)
	dst = append(dst, `],"usage":`...)
	completion := w.completion
	if w.kind == TokenMismatch {
		completion += 17
	}
	dst = appendUsage(dst, w.prompt, w.cached, completion, 0)
	dst = append(dst, `},"reward":`...)
	dst = appendRatio(dst, reward, 1)
	dst = append(dst, `,"score":`...)
	dst = appendDecimal(dst, int64(r.below(1_000_000)), 6)
	dst = append(dst, `,"num_steps":`...)
	dst = appendInt(dst, w.turns)
	dst = append(dst, `,"resolved":`...)
	dst = appendBool(dst, reward == 1)
	dst = append(dst, `,"difficulty":"`...)
	dst = append(dst, difficulty...)
	dst = append(dst, `","evaluation_completed":true,"mask_sample":`...)
	dst = appendBool(dst, masked)
	if masked {
		dst = append(dst, `,"failure_kind":"sandbox_lost","failure_reason":"the sandbox was gone before the verifier ran"`...)
	}
	dst = append(dst, `,"_ng_task_index":`...)
	dst = appendInt(dst, w.task)
	dst = append(dst, `,"_ng_rollout_index":`...)
	dst = appendInt(dst, w.repeat)
	dst = append(dst, `,"agent_ref":{"type":"responses_api_agents","name":"`...)
	dst = append(dst, agents[w.task%len(agents)]...)
	dst = append(dst, `"}`...)
	if w.kind.hasTrajectory() {
		dst = m.appendEvidence(dst, w, took)
	}
	return append(dst, '}')
}

// outcome makes up the grade. A task is easier or harder for all its repeats.
func (m *Maker) outcome(r *rng, w *row) (difficulty string, reward int, masked bool) {
	task := seeded(m.options.Seed, 1<<45|uint64(w.task))
	ease := task.between(10, 90)
	difficulty = []string{"hard", "medium", "easy"}[ease/31]
	if r.below(100) < ease && w.kind != AllFailed && w.kind != EndedFailed {
		reward = 1
	}
	return difficulty, reward, r.below(100) == 0
}

// appendEvidence appends the keys ng_trajectory, ng_model_call_capture and
// ng_perf, as far as a row of this kind has them.
func (m *Maker) appendEvidence(dst []byte, w *row, took int64) []byte {
	var gaps []byte
	switch w.kind {
	case ProjectionFailed:
		gaps = appendGap(gaps, "trajectory_projection_failed", "", "ValueError")
	case TurnsGap:
		gaps = appendGap(gaps, "turns_unavailable", "", "")
	case CaptureGap:
		gaps = appendGap(gaps, "model_call_capture_incomplete", "", "")
	case ScopeGap:
		gaps = appendGap(gaps, "turn_model_call_scope_incomplete", "root", "")
	case LostCall:
		gaps = appendGap(gaps, "model_call_reference_unmatched", "root", w.lost)
	case DoubledCall:
		gaps = appendGap(gaps, "model_call_reference_ambiguous", "root", w.doubled)
	case ConflictingCall:
		gaps = appendGap(gaps, "model_call_reference_conflict", "root", "resp_shared")
	}
	dst = append(dst, `,"ng_trajectory":{"schema_version":"1.0",`...)
	dst = append(dst, w.ids...)
	dst = append(dst, `,"invocations":[`...)
	if w.kind.hasContent() {
		root := invocation{id: "root", status: "completed", took: w.clock - w.began, refs: m.refs, conversation: m.talk}
		dst = root.append(dst)
	}
	dst = append(dst, `],"turns":[`...)
	if w.kind.hasTurns() {
		dst = append(dst, m.turns...)
	}
	dst = append(dst, `],"model_calls":[`...)
	if w.kind.hasContent() {
		dst = append(dst, m.calls...)
	}
	dst = append(dst, `],"tool_calls":[`...)
	if w.kind.hasContent() {
		dst = append(dst, m.runs...)
	}
	dst = append(append(dst, `],"gaps":[`...), gaps...)
	dst = append(dst, ']')
	if w.kind == BadTrajectory {
		dst = append(dst, `,"attempt":0`...)
	}
	dst = append(dst, '}')
	if !w.kind.hasContent() {
		return dst
	}
	dst = append(dst, `,"ng_model_call_capture":`...)
	gaps = nil
	if w.kind == CaptureGap {
		gaps = []byte(`{"code":"model_call_capture_incomplete"}`)
	}
	dst = appendCaptureSummary(dst, strconv.Itoa(w.task)+"-"+strconv.Itoa(w.repeat), w.all, m.captured, gaps)
	if w.kind == BadTrajectory {
		return dst
	}
	dst = append(dst, `,"ng_perf":`...)
	turns := w.turns
	if !w.kind.hasTurns() {
		turns = max(w.owned.calls, 1)
	}
	return appendPerf(dst, turns, w.toolsRun, w.owned, took)
}
