package view

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/health/check"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/timeline"
	"github.com/rollscope/rollscope/core/trajectory"
	"github.com/rollscope/rollscope/core/transcript"
)

// A talk is what the page knows of an open row's conversation: the transcript, and which findings and model calls
// stand where in it. A turn becomes blocks when it comes into sight.
type talk struct {
	*transcript.Rollout
	findings []check.Finding
	byTurn   [][]int // places of findings, by turn
	byCall   map[int][]int
	strays   []int             // findings that belong to no turn and to no call
	before   [][]int           // model calls of no turn, by the turn they come before; the last list is of those behind all
	orphans  map[int]bool      // places in the row of results without a call
	shown    map[int]bool      // of those that stand among the input of a turn
	rest     []transcript.Item // results without a call that stand nowhere else
	hits     *rowHits          // of a search, nil for none
	loose    []int             // tool calls that no turn asks for
	reused   map[string]int    // call id → number of tool calls with it, in one invocation

	bundle    *trajectory.Bundle // nil where there is none that is valid
	bundleErr error
	line      *timeline.Timeline
	starts    []float64 // of turns, NaN where they have no place in time
}

// readTalk ties a row together. The readers keep what it is made of.
func readTalk(row *rollout.Row, findings []check.Finding, reader *transcript.Reader, bundles *trajectory.Reader) *talk {
	t := &talk{Rollout: reader.Read(row), findings: findings, byCall: map[int][]int{}, orphans: map[int]bool{}, shown: map[int]bool{}, reused: map[string]int{}}
	if seen := row.Value.Get("ng_agent_observations"); !seen.IsNull() {
		t.bundle, t.bundleErr = bundles.ReadBundle(seen)
	}
	for i := range t.Orphans {
		t.orphans[t.Orphans[i].Value.Offset()] = true
	}
	for i := range t.Turns {
		for k := range t.Turns[i].Input {
			if at := t.Turns[i].Input[k].Value.Offset(); t.orphans[at] {
				t.shown[at] = true
			}
		}
	}
	for _, it := range t.Orphans {
		if !t.shown[it.Value.Offset()] {
			t.rest = append(t.rest, it)
		}
	}
	for i := range t.Tools {
		tool := &t.Tools[i]
		if tool.Turn < 0 {
			t.loose = append(t.loose, i)
		}
		if tool.ID != "" {
			t.reused[toolKey(tool)]++
		}
	}
	t.placeFindings()
	t.placeCalls()
	return t
}

func toolKey(t *transcript.Tool) string { return strconv.Itoa(t.Invocation) + " " + t.ID }

// placeFindings puts findings to their turns: by turn, or by the turn that their model call made.
func (t *talk) placeFindings() {
	t.byTurn = make([][]int, len(t.Turns))
	for n, f := range t.findings {
		turn := -1
		switch {
		case f.Place.Turn >= 0 && t.Saved:
			turn = f.Place.Turn
		case f.Place.Call >= 0 && f.Place.Call < len(t.Calls):
			if made := t.Calls[f.Place.Call].Turns; len(made) > 0 {
				turn = made[0]
			} else {
				t.byCall[f.Place.Call] = append(t.byCall[f.Place.Call], n)
				continue
			}
		}
		if turn >= 0 && turn < len(t.Turns) {
			t.byTurn[turn] = append(t.byTurn[turn], n)
		} else {
			t.strays = append(t.strays, n)
		}
	}
}

// placeCalls finds the place in time of model calls that belong to no turn: before the first turn that begins later.
// Where clocks do not say, the order of the calls does.
func (t *talk) placeCalls() {
	t.before = make([][]int, len(t.Turns)+1)
	begins := make([]float64, len(t.Turns))
	for i := range t.Turns {
		begins[i] = math.NaN()
		for _, c := range t.Turns[i].Calls {
			if at := t.Calls[c].At.StartedAt; at.Set && !(begins[i] <= at.Value) {
				begins[i] = at.Value
			}
		}
		if turn := &t.Turns[i]; math.IsNaN(begins[i]) && turn.HasTime && turn.Timestamp != 0 {
			begins[i] = turn.Timestamp
		}
	}
	// The latest beginning so far grows, so the first turn that begins later is found by halving.
	latest, timed := make([]float64, len(begins)), false
	for i, begin := range begins {
		latest[i] = math.Inf(-1)
		if i > 0 {
			latest[i] = latest[i-1]
		}
		if !math.IsNaN(begin) {
			latest[i], timed = max(latest[i], begin), true
		}
	}
	next := len(t.Turns)
	places := make([]int, len(t.Calls))
	for c := len(t.Calls) - 1; c >= 0; c-- {
		if made := t.Calls[c].Turns; len(made) > 0 {
			next = made[0]
			continue
		}
		places[c] = next
		if at := t.Calls[c].At.StartedAt; at.Set && timed {
			places[c] = sort.Search(len(latest), func(i int) bool { return latest[i] > at.Value })
		}
	}
	for c := range t.Calls {
		if len(t.Calls[c].Turns) == 0 {
			t.before[places[c]] = append(t.before[places[c]], c)
		}
	}
}

// timeline places the rollout in time, once.
func (t *talk) timeline() *timeline.Timeline {
	if t.line == nil {
		t.line = timeline.Of(t.Rollout, t.bundle)
		t.starts = make([]float64, len(t.Turns))
		for i := range t.starts {
			t.starts[i] = math.NaN()
		}
		for i := range t.line.Spans {
			if s := &t.line.Spans[i]; s.Kind == timeline.Turn {
				t.starts[s.Index] = s.Start
			}
		}
	}
	return t.line
}

// turnNumber is the number a turn goes by: its place among all turns, from 1.
func turnNumber(i int) int { return i + 1 }

// unhealthy tells whether a turn, or a call in front of it, has a finding.
func (t *talk) unhealthy(i int) bool {
	if len(t.byTurn[i]) > 0 {
		return true
	}
	for _, c := range t.before[i] {
		if len(t.byCall[c]) > 0 {
			return true
		}
	}
	return false
}

// A spot names something of a rollout in a State: a letter for what it is and its number from 1.
//
//	f finding   c model call   t tool call   i invocation   s sandbox   k compaction   q sequence of tokens   b byte of the row
type spot struct {
	kind byte
	n    int // from 0
}

func (p spot) String() string { return string(p.kind) + strconv.Itoa(p.n+1) }

// spotOf reads the At of a State. What stands behind a dot is the part of it that is looked at.
func spotOf(at string) (p spot, side string, ok bool) {
	at, side, _ = strings.Cut(at, ".")
	if len(at) < 2 || !strings.Contains("fctiskqb", at[:1]) {
		return p, "", false
	}
	n, err := strconv.Atoi(at[1:])
	if err != nil || n < 1 {
		return p, "", false
	}
	return spot{at[0], n - 1}, side, true
}

// turnOf is the turn, from 0, at which a spot is told; ok is false for one that no turn tells.
func (t *talk) turnOf(p spot) (turn int, ok bool) {
	switch p.kind {
	case 'f':
		for i, list := range t.byTurn {
			for _, n := range list {
				if n == p.n {
					return i, true
				}
			}
		}
		for c, list := range t.byCall {
			for _, n := range list {
				if n == p.n {
					return t.turnOf(spot{'c', c})
				}
			}
		}
	case 'c':
		if p.n >= len(t.Calls) {
			return 0, false
		}
		if made := t.Calls[p.n].Turns; len(made) > 0 {
			return made[0], true
		}
		for i, list := range t.before {
			for _, c := range list {
				if c == p.n && len(t.Turns) > 0 {
					return min(i, len(t.Turns)-1), true
				}
			}
		}
	case 't':
		if p.n < len(t.Tools) && t.Tools[p.n].Turn >= 0 {
			return t.Tools[p.n].Turn, true
		}
	case 'i':
		if p.n < len(t.Invocations) && len(t.Invocations[p.n].Turns) > 0 {
			return t.Invocations[p.n].Turns[0], true
		}
	}
	return 0, false
}

// toSpot is the State that shows a spot in the transcript.
func (t *talk) toSpot(s State, p spot) string {
	return s.With(func(s *State) {
		s.Part, s.Turn, s.At, s.Token, s.Find, s.Hit = "", 0, p.String(), 0, "", 0
		if turn, ok := t.turnOf(p); ok {
			s.Turn = turnNumber(turn)
		}
	}).Href()
}

// toTurn is the State that shows a turn, from 0.
func toTurn(s State, turn int) string {
	return s.With(func(s *State) { s.Part, s.Turn, s.At, s.Token, s.Find, s.Hit = "", turnNumber(turn), "", 0, "", 0 }).Href()
}

// title names a turn.
func (t *talk) title(i int) string { return fmt.Sprintf("Turn %d of %d", turnNumber(i), len(t.Turns)) }

// turnNote says what is known of a turn at a glance.
func (t *talk) turnNote(i int) string {
	turn := &t.Turns[i]
	var parts []string
	add := func(s string) {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if !t.Saved {
		n := len(turn.Answer) + len(turn.Reasoning)
		for k := range turn.Input {
			if it := &turn.Input[k]; it.Kind != transcript.ToolResult || t.orphans[it.Value.Offset()] {
				n++
			}
		}
		return count(n, "item", "items") + " of the response"
	}
	if len(t.Invocations) > 1 || turn.Invocation < 0 && len(t.Invocations) > 0 {
		add(turn.ID + " turn " + turn.No)
	} else if turn.No != strconv.Itoa(turnNumber(i)) {
		add("turn " + turn.No)
	}
	add("step " + turn.StepCount)
	if turn.Resolved.Set {
		add(map[bool]string{true: "resolved", false: "not resolved"}[turn.Resolved.True])
	}
	if len(turn.Calls) == 1 {
		c := t.Calls[turn.Calls[0]].At
		if c.CompletionTokens.Set {
			add(groupText(c.CompletionTokens.Int.String()) + " completion tok")
		}
		if c.DurationMS.Set {
			add(seconds(c.DurationMS.Value))
		}
	}
	if at := t.clock(i); at != "" {
		add("at " + at)
	}
	return strings.Join(parts, " · ")
}

// clock is when a turn began, from the beginning of the rollout.
func (t *talk) clock(i int) string {
	line := t.timeline()
	if math.IsNaN(t.starts[i]) {
		return ""
	}
	return minutes(t.starts[i] - line.Start)
}

// callNote says in one line how a model call went.
func callNote(c *trajectory.Call) string {
	var parts []string
	add := func(label string, text string) {
		if text != "" {
			parts = append(parts, label+text)
		}
	}
	add("", c.Model.String())
	add("", c.Dialect.String())
	if c.StatusCode.Set {
		add("status ", c.StatusCode.Int.String())
	}
	add("", c.ErrorCategory.String())
	add("finish ", c.FinishReason.String())
	tokens := ""
	if c.PromptTokens.Set {
		tokens = groupText(c.PromptTokens.Int.String()) + " prompt"
		if some(c.CachedTokens) {
			tokens += " (" + groupText(c.CachedTokens.Int.String()) + " cached)"
		}
	}
	if c.CompletionTokens.Set {
		if tokens != "" {
			tokens += " + "
		}
		tokens += groupText(c.CompletionTokens.Int.String()) + " completion"
		if some(c.ReasoningTokens) {
			tokens += " (" + groupText(c.ReasoningTokens.Int.String()) + " reasoning)"
		}
	}
	if tokens != "" {
		add("", tokens+" tok")
	}
	if c.DurationMS.Set {
		add("", seconds(c.DurationMS.Value))
	}
	if c.TTFTMS.Set {
		add("first token ", seconds(c.TTFTMS.Value))
	}
	return strings.Join(parts, " · ")
}

// some tells whether a count is known and not 0.
func some(n trajectory.Count) bool { return n.Set && n.Int.String() != "0" }

// failedCall tells whether a model call went wrong.
func failedCall(c *trajectory.Call) bool {
	code, small := c.StatusCode.Int.Int64()
	return !c.ErrorCategory.Empty() || c.StatusCode.Set && (!small || code >= 400)
}

// seconds writes a duration of milliseconds: seconds with a digit, from a minute on min:s.
func seconds(ms float64) string {
	if math.IsNaN(ms) || math.IsInf(ms, 0) {
		return "no duration"
	}
	if math.Abs(ms) < 59_950 {
		return fixed(ms/1000, 1) + " s"
	}
	return minutes(ms / 1000)
}

// minutes writes seconds as min:s.
func minutes(s float64) string {
	sign := ""
	if s < 0 {
		s, sign = -s, "−"
	}
	if s > 1e12 || math.IsNaN(s) {
		return sign + "∞"
	}
	n := int64(s + 0.5)
	return fmt.Sprintf("%s%d:%02d", sign, n/60, n%60)
}
