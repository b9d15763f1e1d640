// Package traceevent writes the timeline of a rollout as a Chrome or Perfetto JSON trace, and checks such a file.
//
// Every kind of span has tracks of its own for each invocation; spans that overlap lie on different tracks, since the
// spans of one track must nest. An arrow leads from a model call to the turn that it made. Times are microseconds from
// the start of the rollout; the start itself is in `otherData`.
//
//	trace := traceevent.Trace(timeline.Of(talk, bundle), traceevent.Rollout{…})
package traceevent

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/timeline"
	"github.com/rollscope/rollscope/core/value"
)

// A Rollout is what the trace says of the rollout besides its spans.
type Rollout struct {
	ID, Task string
	// Arguments gives what the details of a span show; may be nil.
	Arguments func(*timeline.Span) []value.Member
}

// Trace is the trace of a timeline.
func Trace(t *timeline.Timeline, r Rollout) value.Value {
	w := writer{start: t.Start, tracks: map[track]int64{}}
	w.meta("process_name", 0, "rollout "+r.ID)
	for i := range t.Spans {
		w.track(&t.Spans[i], t)
	}
	for i := range t.Spans {
		w.span(&t.Spans[i], r)
	}
	w.flows(t)
	unplaced := []value.Value{}
	for i := range t.Unplaced {
		s := &t.Unplaced[i]
		unplaced = append(unplaced, value.Object(value.M("kind", value.Text(s.Kind.String())), value.M("name", value.Text(s.Name)), value.M("id", value.TextOrNull(s.ID)), value.M("duration_ms", milliseconds(s.DurationMS))))
	}
	other := value.Object(
		value.M("rollout_id", value.Text(r.ID)), value.M("task_id", value.Text(r.Task)), value.M("start_unix_s", value.Float(t.Start)),
		value.M("unplaced", value.List(unplaced...)))
	return value.Object(
		value.M("traceEvents", value.List(w.events...)), value.M("displayTimeUnit", value.Text("ms")), value.M("otherData", other))
}

func milliseconds(f float64) value.Value {
	if math.IsNaN(f) {
		return value.Null
	}
	return value.Float(f)
}

const process = 1

type track struct {
	kind       timeline.Kind
	invocation int
	lane       int
}

type writer struct {
	start  float64
	tracks map[track]int64
	events []value.Value
}

func trackOf(s *timeline.Span) track { return track{s.Kind, s.Invocation, s.Lane} }

// meta names a process or a track.
func (w *writer) meta(name string, thread int64, text string) {
	w.events = append(w.events, value.Object(
		value.M("name", value.Text(name)), value.M("ph", value.Text("M")), value.M("pid", value.Int(process)), value.M("tid", value.Int(thread)),
		value.M("args", value.Object(value.M("name", value.Text(text))))))
}

// track makes sure that the track of a span has a number and a name.
func (w *writer) track(s *timeline.Span, t *timeline.Timeline) {
	k := trackOf(s)
	if _, there := w.tracks[k]; there {
		return
	}
	n := int64(len(w.tracks)) + 1
	w.tracks[k] = n
	name := s.Kind.String() + "s"
	if s.Kind != timeline.Invocation && s.Invocation >= 0 {
		for i := range t.Spans {
			if o := &t.Spans[i]; o.Kind == timeline.Invocation && o.Index == s.Invocation {
				name = o.Name + ": " + name
			}
		}
	}
	if s.Lane > 0 {
		name += " " + strconv.Itoa(s.Lane+1)
	}
	w.meta("thread_name", n, name)
	w.events = append(w.events, value.Object(
		value.M("name", value.Text("thread_sort_index")), value.M("ph", value.Text("M")), value.M("pid", value.Int(process)), value.M("tid", value.Int(n)),
		value.M("args", value.Object(value.M("sort_index", value.Int(n))))))
}

// micros is a time of the trace.
func (w *writer) micros(unix float64) float64 { return math.Round((unix-w.start)*1e9) / 1e3 }

func (w *writer) span(s *timeline.Span, r Rollout) {
	from, to := w.micros(min(s.Start, s.End)), w.micros(max(s.Start, s.End))
	arguments := []value.Member{value.M("placing", value.Text(s.Placing.String()))}
	if s.ID != "" {
		arguments = append(arguments, value.M("id", value.Text(s.ID)))
	}
	if s.Status != "" {
		arguments = append(arguments, value.M("status", value.Text(s.Status)))
	}
	if s.Failed {
		arguments = append(arguments, value.M("failed", value.Bool(true)))
	}
	if s.Backwards {
		arguments = append(arguments, value.M("ends_before_it_starts", value.Bool(true)))
	}
	if !math.IsNaN(s.DurationMS) {
		arguments = append(arguments, value.M("duration_ms", value.Float(s.DurationMS)))
	}
	if r.Arguments != nil {
		arguments = append(arguments, r.Arguments(s)...)
	}
	head := []value.Member{value.M("name", value.Text(s.Name)), value.M("cat", value.Text(s.Kind.String()))}
	place := []value.Member{value.M("pid", value.Int(process)), value.M("tid", value.Int(w.tracks[trackOf(s)])), value.M("ts", value.Float(from))}
	if s.Kind == timeline.Compaction {
		w.events = append(w.events, value.Object(slices.Concat(head, []value.Member{value.M("ph", value.Text("i"))}, place,
			[]value.Member{value.M("s", value.Text("t")), value.M("args", value.Object(arguments...))})...))
		return
	}
	w.events = append(w.events, value.Object(slices.Concat(head, []value.Member{value.M("ph", value.Text("X"))}, place,
		[]value.Member{value.M("dur", value.Float(math.Round((to-from)*1e3)/1e3)), value.M("args", value.Object(arguments...))})...))
}

// flows draws arrows from model calls to their turns.
func (w *writer) flows(t *timeline.Timeline) {
	turns := map[int]*timeline.Span{}
	for i := range t.Spans {
		if s := &t.Spans[i]; s.Kind == timeline.Turn {
			turns[s.Index] = s
		}
	}
	for i := range t.Spans {
		s := &t.Spans[i]
		turn := turns[s.Turn]
		if s.Kind != timeline.ModelCall || s.Turn < 0 || turn == nil {
			continue
		}
		id := value.M("id", value.Int(int64(s.Index)+1))
		end := func(ph string, at *timeline.Span, unix float64) {
			members := []value.Member{
				value.M("name", value.Text("call to turn")), value.M("cat", value.Text("flow")), value.M("ph", value.Text(ph)), id,
				value.M("pid", value.Int(process)), value.M("tid", value.Int(w.tracks[trackOf(at)])), value.M("ts", value.Float(w.micros(unix))),
			}
			if ph == "f" {
				members = append(members, value.M("bp", value.Text("e")))
			}
			w.events = append(w.events, value.Object(members...))
		}
		at := min(s.Start, s.End)
		end("s", s, at)
		end("f", turn, min(max(at, turn.Start), turn.End))
	}
}

// Check holds a text against the format of traces: the fields of every event by its phase, spans that nest on their
// track, flows that begin and end.
func Check(text []byte) error {
	v, err := value.Strict(text)
	if err != nil {
		return err
	}
	events := v.Get("traceEvents")
	if events.Kind() != jsonscan.Array {
		return fmt.Errorf("traceEvents is no array")
	}
	if unit := v.Get("displayTimeUnit"); unit.Exists() && !unit.Is("ms") && !unit.Is("ns") {
		return fmt.Errorf("displayTimeUnit is neither ms nor ns")
	}
	open := map[string][]stretch{}
	flows := map[string]int{}
	for i, e := range events.Items() {
		if err := checkEvent(e, open, flows); err != nil {
			return fmt.Errorf("event %d: %w", i, err)
		}
	}
	for id, n := range flows {
		if n != 0 {
			return fmt.Errorf("flow %s does not begin and end once", id)
		}
	}
	for name, list := range open {
		if err := nests(list); err != nil {
			return fmt.Errorf("track %s: %w", name, err)
		}
	}
	return nil
}

type stretch struct{ from, to float64 }

func checkEvent(e value.Value, open map[string][]stretch, flows map[string]int) error {
	if !e.IsObject() {
		return fmt.Errorf("is no object")
	}
	if _, ok := e.Get("name").Text(); !ok {
		return fmt.Errorf("name is no string")
	}
	phase, ok := e.Get("ph").Text()
	if !ok || len(phase) != 1 {
		return fmt.Errorf("ph is no letter")
	}
	for _, name := range [...]string{"pid", "tid"} {
		if _, ok := e.Get(name).Int64(); !ok {
			return fmt.Errorf("%s is no whole number", name)
		}
	}
	if args := e.Get("args"); args.Exists() && !args.IsObject() {
		return fmt.Errorf("args is no object")
	}
	if phase == "M" {
		if !e.Get("args").IsObject() {
			return fmt.Errorf("metadata has no args")
		}
		return nil
	}
	ts, ok := e.Get("ts").Number()
	if !ok || ts < 0 || math.IsInf(ts, 0) {
		return fmt.Errorf("ts is no time")
	}
	if _, ok := e.Get("cat").Text(); !ok {
		return fmt.Errorf("cat is no string")
	}
	switch phase {
	case "X":
		dur, ok := e.Get("dur").Number()
		if !ok || dur < 0 {
			return fmt.Errorf("dur is no duration")
		}
		tid, _ := e.Get("tid").Int64()
		key := strconv.FormatInt(tid, 10)
		open[key] = append(open[key], stretch{ts, ts + dur})
	case "i":
		if s := e.Get("s"); !s.Is("t") && !s.Is("p") && !s.Is("g") {
			return fmt.Errorf("the scope of an instant is not t, p or g")
		}
	case "s", "f":
		id := e.Get("id")
		if !id.Exists() {
			return fmt.Errorf("a flow has no id")
		}
		if phase == "s" {
			flows[id.String()]++
		} else {
			flows[id.String()]--
		}
	default:
		return fmt.Errorf("phase %s is not expected", phase)
	}
	return nil
}

// nests tells whether spans lie in each other or apart, but for a thousandth of a microsecond, or what a number of
// their size can tell.
func nests(list []stretch) error {
	slices.SortStableFunc(list, func(a, b stretch) int {
		switch {
		case a.from < b.from || a.from == b.from && a.to > b.to:
			return -1
		case a == b:
			return 0
		}
		return 1
	})
	var around []stretch
	for _, s := range list {
		slack := max(1e-3, s.to*0x1p-50)
		for len(around) > 0 && around[len(around)-1].to <= s.from+slack {
			around = around[:len(around)-1]
		}
		if n := len(around); n > 0 && s.to > around[n-1].to+slack {
			return fmt.Errorf("spans overlap at %v", s.from)
		}
		around = append(around, s)
	}
	return nil
}
