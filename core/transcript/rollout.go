package transcript

import (
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/perf"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/trajectory"
)

// A Rollout is the conversation of one row. It lives as long as the row.
type Rollout struct {
	Saved       bool // turns are those of the trajectory; else they follow from the response
	Loose       bool // the trajectory is not valid, and what could be read of it is shown
	Prompt      []Item
	Turns       []Turn
	Invocations []Invocation
	Calls       []Call
	Tools       []Tool
	Orphans     []Item // results that belong to no tool call

	Record *trajectory.Record // nil where there is none that is valid
	Err    error              // why the trajectory is not valid
}

// A Turn is one turn of an agent.
type Turn struct {
	Invocation int    // its place among the invocations, −1 if it is not listed
	ID         string // of the invocation
	No         string // as it was numbered
	Timestamp  float64
	HasTime    bool
	StepCount  string
	Resolved   trajectory.Flag

	Input     []Item // what is new in the question: the earlier turns of the invocation have the rest
	Asked     int    // items of the whole question
	Reasoning []Item
	Answer    []Item
	Calls     []int // model calls that made it
	Tools     []int // tool calls that its answer asks for
}

// An Invocation is the root agent or a subagent.
type Invocation struct {
	ID, Status string
	Parent     int // −1 for none, or for one that is not listed
	Depth      int
	Children   []int
	Turns      []int
	Calls      []int
	Tools      []int
	SpawnedBy  string // tool call id
	At         *trajectory.Invocation
}

// A Call is a model call with its owner.
type Call struct {
	Invocation int // −1 for none
	Turns      []int
	At         *trajectory.Call
}

// A Tool is a tool call: the record of its execution, where there is one, and its places in the conversation.
type Tool struct {
	Invocation int
	ID, Name   string
	Turn       int // whose answer asks for it, −1 for none
	Call       jsonscan.Value
	Result     jsonscan.Value // what came back; absent where nothing did
	Answered   bool
	Hosted     bool                 // the model's server answers it, a result of its own is not expected
	Record     *trajectory.ToolCall // nil where nobody observed it
}

// A Reader reads rollouts one after the other and reuses its memory. The zero Reader is ready.
type Reader struct{ trajectory trajectory.Reader }

// Read ties a row together. The result is valid until the next Read.
func (r *Reader) Read(row *rollout.Row) *Rollout {
	t := &Rollout{}
	if instructions := row.Params.Get("instructions"); instructions.IsString() {
		t.Prompt = append(t.Prompt, Item{Kind: Message, Role: "system", Value: instructions, Text: instructions, Pair: -1})
	}
	if !row.Trajectory.IsNull() {
		record, err := r.trajectory.Read(row.Trajectory)
		t.Record, t.Err = record, err
		if err == nil {
			t.read(record)
		} else if record := loose(row.Trajectory); record != nil {
			t.Loose = true
			t.read(record)
		}
	}
	if len(t.Calls) == 0 {
		t.attached(row.Value.Get("ng_model_call_capture").Get("calls"))
	}
	if len(t.Turns) == 0 {
		t.fromResponse(row)
	} else {
		t.Saved = true
	}
	return t
}

// read takes over a valid trajectory.
func (t *Rollout) read(r *trajectory.Record) {
	at := make(map[string]int, len(r.Invocations))
	t.Invocations = make([]Invocation, len(r.Invocations))
	for i := range r.Invocations {
		in := &r.Invocations[i]
		at[in.ID.String()] = i
		t.Invocations[i] = Invocation{ID: in.ID.String(), Status: in.Status.String(), Parent: -1, SpawnedBy: in.SpawnedBy.String(), At: in}
	}
	for i := range r.Invocations {
		if parent, there := at[r.Invocations[i].Parent.String()]; there && r.Invocations[i].Parent.Set && parent != i {
			t.Invocations[i].Parent = parent
		}
	}
	t.tree()
	owners := perf.Owners(r)
	t.Calls = make([]Call, len(r.Calls))
	byID, byResponse := map[string][]int{}, map[string][]int{}
	for i := range r.Calls {
		c := &r.Calls[i]
		t.Calls[i] = Call{Invocation: owners[i], At: c}
		if owners[i] >= 0 {
			t.Invocations[owners[i]].Calls = append(t.Invocations[owners[i]].Calls, i)
		}
		byID[string(c.ID.Bytes)] = append(byID[string(c.ID.Bytes)], i)
		byResponse[string(c.ResponseID.Bytes)] = append(byResponse[string(c.ResponseID.Bytes)], i)
	}
	asked := map[string]question{}
	for i := range r.Turns {
		turn := t.turn(&r.Turns[i], at, asked)
		for k := range r.Turns[i].Refs {
			if call := one(&r.Turns[i].Refs[k], r, byID, byResponse); call >= 0 {
				turn.Calls = append(turn.Calls, call)
				t.Calls[call].Turns = append(t.Calls[call].Turns, i)
			}
		}
		if turn.Invocation >= 0 {
			t.Invocations[turn.Invocation].Turns = append(t.Invocations[turn.Invocation].Turns, i)
		}
		t.Turns = append(t.Turns, turn)
	}
	t.tools(r, at)
}

// one finds the call that a reference names, −1 if it fits none or several.
func one(ref *modelcall.Ref, r *trajectory.Record, byID, byResponse map[string][]int) int {
	candidates := byResponse[string(ref.ResponseID.Bytes)]
	if !ref.ModelCallID.Empty() {
		candidates = byID[string(ref.ModelCallID.Bytes)]
	}
	found := -1
	for _, i := range candidates {
		c := &r.Calls[i]
		if ref.Matches(&modelcall.Ref{ModelCallID: c.ID, Model: c.ModelRef, ResponseID: c.ResponseID}) {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	return found
}

// tree finds children and depths. A circle of parents, which no bundle has but a trajectory may, ends where it began.
func (t *Rollout) tree() {
	for i := range t.Invocations {
		if p := t.Invocations[i].Parent; p >= 0 {
			t.Invocations[p].Children = append(t.Invocations[p].Children, i)
		}
		depth := 0
		for k := t.Invocations[i].Parent; k >= 0 && depth <= len(t.Invocations); k = t.Invocations[k].Parent {
			depth++
		}
		if depth > len(t.Invocations) {
			depth = 0
		}
		t.Invocations[i].Depth = depth
	}
}

// A question is what the next one of its invocation probably repeats: how many items it had, and its first one.
type question struct {
	items int
	first []byte
}

// turn takes over a turn. asked has the last question of every invocation.
func (t *Rollout) turn(saved *trajectory.Turn, at map[string]int, asked map[string]question) Turn {
	id := saved.InvocationID.String()
	turn := Turn{
		Invocation: -1, ID: id, No: saved.No.String(), Timestamp: saved.Timestamp, HasTime: true, StepCount: saved.StepCount.String(),
		Resolved: saved.Resolved, Reasoning: Items(saved.Reasoning), Answer: Items(saved.Answer),
	}
	for i := range turn.Reasoning {
		turn.Reasoning[i].Kind = Reasoning
	}
	for i := range turn.Answer {
		if turn.Answer[i].Kind == Message && turn.Answer[i].Role == "" {
			turn.Answer[i].Role = "assistant"
		}
	}
	if i, listed := at[id]; listed {
		turn.Invocation = i
	}
	list := Items(saved.Question)
	turn.Asked = len(list)
	var first []byte
	if len(list) > 0 {
		first = list[0].Value.Raw()
	}
	before := asked[id]
	repeats := before.items > 0 && before.items <= len(list) && string(before.first) == string(first)
	if repeats {
		list = list[before.items:]
	}
	for _, it := range list {
		// What the agent said itself stands in its earlier turns.
		if repeats && (it.Kind == ToolCall || it.Kind == Reasoning || it.Kind == Message && it.Role == "assistant") {
			continue
		}
		it.Pair = -1
		turn.Input = append(turn.Input, it)
	}
	asked[id] = question{turn.Asked, first}
	return turn
}

// key names a tool call of an invocation.
type key struct {
	invocation string
	call       string
}

// nobody stands for an id that is not there; no id has this text.
const nobody = "\xff"

// tools ties tool records, calls in answers and results together.
func (t *Rollout) tools(r *trajectory.Record, at map[string]int) {
	records := map[key][]int{}
	for i := range r.Tools {
		k := key{r.Tools[i].InvocationID.String(), r.Tools[i].ID.String()}
		records[k] = append(records[k], i)
	}
	results := map[key][]Item{}
	var order []key
	collect := func(invocation string, v jsonscan.Value, seen map[key]int) {
		counts := map[key]int{}
		for _, it := range Items(v) {
			if it.Kind != ToolResult {
				continue
			}
			k := key{invocation, it.CallID}
			if !it.HasCallID {
				k.call = nobody
			}
			// Questions repeat what came before them.
			if counts[k]++; counts[k] > seen[k] {
				seen[k] = counts[k]
				if len(results[k]) == 0 {
					order = append(order, k)
				}
				it.Pair = -1
				results[k] = append(results[k], it)
			}
		}
	}
	seen := map[key]int{}
	for i := range r.Turns {
		collect(r.Turns[i].InvocationID.String(), r.Turns[i].Question, seen)
	}
	for i := range r.Invocations {
		collect(r.Invocations[i].ID.String(), r.Invocations[i].Conversation, seen)
	}
	used := make([]bool, len(r.Tools))
	taken := map[key]int{}
	add := func(tool Tool, k key, own jsonscan.Value) int {
		if list := records[k]; len(list) > 0 {
			tool.Record, used[list[0]] = &r.Tools[list[0]], true
			records[k] = list[1:]
		}
		if list := results[k]; taken[k] < len(list) {
			tool.Result, tool.Answered = list[taken[k]].Text, true
			taken[k]++
		}
		if !tool.Answered && !own.IsNull() {
			tool.Result, tool.Answered = own, true
		}
		if tool.Record != nil {
			if tool.Name == "" {
				tool.Name = tool.Record.Name.String()
			}
			if !tool.Answered && !tool.Record.Output.IsNull() {
				tool.Result, tool.Answered = tool.Record.Output, true
			}
		}
		n := len(t.Tools)
		t.Tools = append(t.Tools, tool)
		if tool.Invocation >= 0 {
			t.Invocations[tool.Invocation].Tools = append(t.Invocations[tool.Invocation].Tools, n)
		}
		return n
	}
	for i := range t.Turns {
		turn := &t.Turns[i]
		for k := range turn.Answer {
			if it := &turn.Answer[k]; it.Kind == ToolCall {
				tool := Tool{Invocation: turn.Invocation, ID: it.CallID, Name: it.Name, Turn: i, Call: it.Value, Hosted: it.Hosted}
				where := key{turn.ID, it.CallID}
				if !it.HasCallID {
					where = key{nobody, nobody}
				}
				turn.Tools = append(turn.Tools, add(tool, where, it.Result))
			}
		}
	}
	for i := range r.Tools {
		if used[i] {
			continue
		}
		id := r.Tools[i].InvocationID.String()
		tool := Tool{Invocation: -1, ID: r.Tools[i].ID.String(), Turn: -1}
		if n, listed := at[id]; listed {
			tool.Invocation = n
		}
		add(tool, key{id, tool.ID}, jsonscan.Value{})
	}
	for _, k := range order {
		t.Orphans = append(t.Orphans, results[k][taken[k]:]...)
	}
}

// said gives the items of a response of any dialect.
func said(v jsonscan.Value) []Item {
	if !v.IsObject() {
		if v.IsString() {
			return Items(v)
		}
		return nil
	}
	if output := v.Get("output"); output.Exists() && !output.IsNull() {
		return Items(output)
	}
	if choices := v.Get("choices"); choices.IsArray() {
		var list []Item
		e := choices.Elements()
		for e.Next() {
			list = appendItems(list, e.Value.Get("message"))
		}
		pair(list)
		return list
	}
	if v.Get("role").IsString() && v.Get("content").Exists() {
		return Items(v)
	}
	return nil
}

// fromResponse makes turns of a response: what a tool or a person answers ends one.
func (t *Rollout) fromResponse(row *rollout.Row) {
	input := row.Params
	if input.IsObject() {
		input = input.Get("input")
	}
	t.Prompt = append(t.Prompt, Items(input)...)
	list := said(row.Response)
	observed := map[string]int{} // of the trajectory, by id
	for i := range t.Tools {
		observed[t.Tools[i].ID] = i
	}
	turn := Turn{Invocation: -1}
	told := false // something of the turn stands nowhere else
	flush := func() {
		if told {
			t.Turns = append(t.Turns, turn)
		}
		turn, told = Turn{Invocation: -1}, false
	}
	acted := false
	for _, it := range list {
		answer := it.Pair
		it.Pair = -1
		world := it.Kind == ToolResult || it.Kind == Message && it.Role == "user"
		if world && acted {
			flush()
			acted = false
		}
		switch {
		case world:
			if it.Kind == ToolResult && answer < 0 {
				t.Orphans = append(t.Orphans, it)
			}
			told = told || answer < 0
			turn.Input = append(turn.Input, it)
		case it.Kind == Reasoning && len(turn.Answer) == 0:
			turn.Reasoning = append(turn.Reasoning, it)
			acted, told = true, true
		default:
			if it.Kind == ToolCall {
				tool := Tool{Invocation: -1, ID: it.CallID, Name: it.Name, Turn: len(t.Turns), Call: it.Value, Hosted: it.Hosted}
				if answer >= 0 {
					tool.Result, tool.Answered = list[answer].Text, true
				} else if !it.Result.IsNull() {
					tool.Result, tool.Answered = it.Result, true
				}
				turn.Tools = append(turn.Tools, t.observe(tool, it.HasCallID, observed))
			}
			turn.Answer = append(turn.Answer, it)
			acted, told = true, true
		}
	}
	flush()
}

// observe adds a tool call of the response, or finds the record that a trajectory without turns has of it.
func (t *Rollout) observe(tool Tool, named bool, observed map[string]int) int {
	i, known := observed[tool.ID]
	if !known || !named {
		t.Tools = append(t.Tools, tool)
		return len(t.Tools) - 1
	}
	delete(observed, tool.ID)
	at := &t.Tools[i]
	at.Turn, at.Call = tool.Turn, tool.Call
	if tool.Answered {
		at.Result, at.Answered = tool.Result, true
	}
	if tool.Name != "" {
		at.Name = tool.Name
	}
	return i
}
