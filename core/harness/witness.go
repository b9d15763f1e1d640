package harness

import (
	"fmt"
	"strings"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/value"
)

// A Witness is what stood between a harness and its servers in a scripted scenario and wrote down what it saw (§11.1).
type Witness struct {
	seeded, finished, violations value.Value
	verifications                []value.Value
	attempts                     []value.Value
	tools                        []value.Value
}

// ParseWitness reads a witness file. Members of another kind than they should have count as missing.
func ParseWitness(text []byte) (*Witness, error) {
	v, err := value.Parse(text, value.Leniency{Surrogates: true})
	if err != nil {
		return nil, fmt.Errorf("witness: %w", err)
	}
	if !v.IsObject() {
		return nil, fmt.Errorf("witness: the document is no object")
	}
	return &Witness{
		seeded: v.Get("seeded"), finished: v.Get("finished"), violations: v.Get("violations"),
		verifications: objectsOf(v.Get("verifications")), attempts: objectsOf(v.Get("attempts")), tools: objectsOf(v.Get("tool_calls")),
	}, nil
}

// objectsOf lists the objects of an array.
func objectsOf(v value.Value) []value.Value {
	list := []value.Value{}
	for _, item := range v.Items() {
		if item.IsObject() {
			list = append(list, item)
		}
	}
	return list
}

// A Scenario says what was scripted.
type Scenario struct {
	HTTPErrors     []int64     // statuses of the first answers
	TerminalError  bool        // the last of them is given for ever
	ToolSteps      int         // tools that the model asks for
	ExpectedReward value.Value // of the verifier
	ModelTimeout   value.Value // limit of the first call in seconds, absent for none
}

// A Fingerprint makes a text that two exchanges share exactly if they count as the same. Runners bring their own where
// a protocol adds noise.
type Fingerprint func(request, status, response value.Value) string

// PlainFingerprint compares exchanges as they are.
func PlainFingerprint(request, status, response value.Value) string {
	return value.List(request, status, response).String()
}

// A Behavior is a check of a record against its witness.
type Behavior struct {
	ID       string
	Evidence Capabilities
	Location string
	Needs    []string
	Title    string
	Fails    string // the reason of a failing row

	applies func(*Scenario) bool
	given   func(*behaving) bool
	rule    func(*behaving) bool
}

// Behaviors lists the behavioural checks in their order.
func Behaviors() []*Behavior {
	list := make([]*Behavior, len(behaviors))
	for i := range behaviors {
		list[i] = &behaviors[i]
	}
	return list
}

// Behave checks a record against what a witness saw. The record may be absent and the witness nil; what needs them is
// then unavailable. A nil fingerprint is [PlainFingerprint].
func Behave(record value.Value, w *Witness, s Scenario, fingerprint Fingerprint) Rows {
	if fingerprint == nil {
		fingerprint = PlainFingerprint
	}
	b := &behaving{Scenario: s, record: record, seen: w != nil, print: fingerprint}
	if b.seen {
		b.Witness = *w
	}
	b.collect()
	rows := Rows{}
	for i := range behaviors {
		c := &behaviors[i]
		row := Row{ID: c.ID, Kind: Behavioral, Evidence: c.Evidence, Locations: []string{c.Location}}
		// The ids of the table differ, so that nothing can conflict.
		_ = rows.run(row, c.Needs, c.applies(&b.Scenario), c.given(b), func() (bool, string) { return c.rule(b), c.Fails })
	}
	return rows
}

// behaving is what the rules look at.
type behaving struct {
	Witness
	Scenario
	record value.Value
	seen   bool
	print  Fingerprint

	calls       []value.Value
	invocations []value.Value
	saved       []value.Value // tool calls
	sameIDs     bool

	// One entry for each witnessed tool, once the ids are known to agree; asked only for those that were joined.
	joined, asked, ended, returned []bool
}

func metadata(call value.Value) value.Value { return call.Get("response_metadata") }

func (b *behaving) collect() {
	t := b.record.Get("ng_trajectory")
	b.calls, b.invocations, b.saved = objectsOf(t.Get("model_calls")), objectsOf(t.Get("invocations")), objectsOf(t.Get("tool_calls"))
	if !b.seen || !b.record.IsObject() {
		return
	}
	if b.sameIDs = b.agreeAboutTools(); !b.sameIDs {
		return
	}
	byID := map[string]value.Value{}
	for _, s := range b.saved {
		byID[value.Key(s.Get("tool_call_id"))] = s
	}
	for _, w := range b.tools {
		saved := byID[value.Key(w.Get("id"))]
		var found []value.Value
		for _, inv := range b.invocations {
			if !value.Equal(inv.Get("invocation_id"), saved.Get("invocation_id")) {
				continue
			}
			for _, item := range objectsOf(inv.Get("conversation")) {
				if item.Get("type").Is("function_call") && value.Equal(item.Get("call_id"), w.Get("id")) {
					found = append(found, item)
				}
			}
		}
		b.joined = append(b.joined, len(found) == 1)
		if len(found) == 1 {
			b.asked = append(b.asked, isAskedFor(found[0], saved, w))
		}
		status := "completed"
		if w.Get("exit_code").Truthy() {
			status = "failed"
		}
		b.ended = append(b.ended, saved.Get("status").Is(status))
		outputs := w.Get("outputs").Items()
		same := len(outputs) > 0
		for _, o := range outputs {
			same = same && value.Equal(o, saved.Get("output"))
		}
		b.returned = append(b.returned, same)
	}
}

// agreeAboutTools tells whether the saved tools are those that were witnessed, each once.
func (b *behaving) agreeAboutTools() bool {
	counts := map[string]int{}
	for _, s := range b.saved {
		if id := s.Get("tool_call_id"); id.Kind() == jsonscan.String {
			counts[value.Key(id)]++
		} else {
			return false
		}
	}
	for _, w := range b.tools {
		key := value.Key(w.Get("id"))
		if counts[key] != 1 {
			return false
		}
		delete(counts, key)
	}
	return len(counts) == 0
}

// isAskedFor tells whether a function_call of the conversation asks for what was run.
func isAskedFor(item, saved, witnessed value.Value) bool {
	plain, ok := item.Get("name").Text()
	if !ok {
		return false
	}
	name := plain
	if space := item.Get("namespace"); space.Truthy() {
		text, ok := space.Text()
		if !ok {
			return false
		}
		name = text + "__" + plain
	}
	text, ok := item.Get("arguments").Text()
	if !ok {
		return false
	}
	arguments, err := value.Parse([]byte(text), value.Leniency{Surrogates: true})
	return err == nil && witnessed.Get("name").Is(name) && value.Equal(arguments, witnessed.Get("arguments")) && saved.Get("tool_name").Is(plain)
}

// bag is a multiset of texts.
type bag map[string]int

func (b bag) add(parts ...string) { b[strings.Join(parts, "\x00")]++ }

func (b bag) equal(o bag) bool {
	if len(b) != len(o) {
		return false
	}
	for k, n := range b {
		if o[k] != n {
			return false
		}
	}
	return true
}

// attempt is the fingerprint of a witnessed exchange.
func (b *behaving) attempt(a value.Value) string {
	response := a.Get("response")
	if response.IsNull() {
		response = value.Object()
	}
	return b.print(a.Get("request").OrNull(), a.Get("status_code").OrNull(), response)
}

// call is the fingerprint of a saved exchange.
func (b *behaving) call(c value.Value) string {
	return b.print(c.Get("request").OrNull(), metadata(c).Get("status_code").OrNull(), c.Get("response").OrNull())
}

// sameExchanges compares what was witnessed with what was saved, with further texts about each exchange.
func (b *behaving) sameExchanges(witnessed, saved func(value.Value) []value.Value) bool {
	seen, kept := bag{}, bag{}
	texts := func(first string, more []value.Value) []string {
		list := []string{first}
		for _, v := range more {
			list = append(list, v.OrNull().String())
		}
		return list
	}
	for _, a := range b.attempts {
		seen.add(texts(b.attempt(a), witnessed(a))...)
	}
	for _, c := range b.calls {
		kept.add(texts(b.call(c), saved(c))...)
	}
	return seen.equal(kept)
}

func nothingMore(value.Value) []value.Value { return nil }

// isChat tells whether a request is of the dialect chat.
func isChat(request value.Value) bool { return request.Get("messages").Exists() }

func witnessedEnd(a value.Value) []value.Value {
	response, reason := a.Get("response"), value.Null
	if isChat(a.Get("request")) {
		if choices := response.Get("choices").Items(); len(choices) > 0 {
			reason = choices[0].Get("finish_reason")
		}
	}
	return []value.Value{response.Get("id"), response.Get("status"), reason}
}

func savedEnd(c value.Value) []value.Value {
	m := metadata(c)
	return []value.Value{m.Get("response_id"), m.Get("response_status"), m.Get("finish_reason")}
}

func witnessedCounts(a value.Value) []value.Value {
	u := a.Get("response").Get("usage")
	if isChat(a.Get("request")) {
		return []value.Value{
			u.Get("prompt_tokens"), u.Get("completion_tokens"), u.Get("completion_tokens_details").Get("reasoning_tokens"),
			u.Get("total_tokens"), u.Get("prompt_tokens_details").Get("cached_tokens"),
		}
	}
	return []value.Value{
		u.Get("input_tokens"), u.Get("output_tokens"), u.Get("output_tokens_details").Get("reasoning_tokens"),
		u.Get("total_tokens"), u.Get("input_tokens_details").Get("cached_tokens"),
	}
}

func savedCounts(c value.Value) []value.Value {
	list := []value.Value{}
	for _, name := range TokenFields() {
		list = append(list, c.Get("token_stats").Get(name))
	}
	return list
}

func all(list []bool) bool {
	for _, ok := range list {
		if !ok {
			return false
		}
	}
	return true
}
