package modelcall

import (
	"math"
	"slices"
	"strconv"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/trajectory/lax"
	"github.com/rollscope/rollscope/core/value"
)

// A Notice takes a finding: its id and its values. Place and rollout are known to the caller.
type Notice func(id string, values ...value.Member)

// CheckCall holds a call of a capture against its own evidence: its clocks, its error category, its stream (spec
// model-calls §6, §7, §11). The payload must be there still.
func CheckCall(c *Call, add Notice) {
	name := value.M("call", value.Text(c.name()))
	checkClocks(c, name, add)
	switch {
	case c.ErrorCategory.Set && !KnownCategory(c.ErrorCategory.String()):
		add(finding.CallsUnknownCategory, name, value.M("saved", value.Text(c.ErrorCategory.String())))
	case !c.CategoryFits():
		var allowed []value.Value
		for _, category := range c.AllowedCategories() {
			allowed = append(allowed, value.TextOrNull(category))
		}
		saved := value.Null
		if c.ErrorCategory.Set {
			saved = value.Text(c.ErrorCategory.String())
		}
		add(finding.CallsCategoryMismatch, name, value.M("saved", saved), value.M("allowed", value.List(allowed...)))
	}
	checkStream(c, name, add)
}

// name is the id of a call for people, or its position.
func (c *Call) name() string {
	if label := c.Label(); len(label) > 0 {
		return string(label)
	}
	return "#" + strconv.Itoa(c.Index)
}

// checkClocks holds the times of a call against each other.
func checkClocks(c *Call, name value.Member, add Notice) {
	start, end, latency, ttft := c.StartedAt, c.CompletedAt, c.LatencyMS, c.TTFTMS
	if start.Set && end.Set && end.Value < start.Value || latency.Set && latency.Value < 0 {
		add(finding.CallsTimeOrder, name)
	}
	const tolerated = 1000 // ms
	if start.Set && end.Set && latency.Set {
		wall := (end.Value - start.Value) * 1000
		if math.Abs(wall-latency.Value) > tolerated {
			add(finding.CallsClockSkew, name, value.M("wall_ms", value.Float(math.Round(wall*100)/100)), value.M("latency_ms", value.Float(latency.Value)))
		}
	}
	if ttft.Set && latency.Set && ttft.Value > latency.Value {
		add(finding.CallsTTFTOrder, name, value.M("ttft_ms", value.Float(ttft.Value)), value.M("latency_ms", value.Float(latency.Value)))
	}
}

// checkStream puts the response of a stream together again. A call that ended in an exception keeps what had come and
// claims no response.
func checkStream(c *Call, name value.Member, add Notice) {
	dialect := c.Dialect.String()
	if _, known := terminals[dialect]; !known || !c.ResponseRaw.Exists() {
		return
	}
	made, ok := Rebuild(dialect, c.ResponseRaw.Text())
	if !c.Response.Exists() {
		switch category := c.ErrorCategory.String(); category {
		case categoryNone, CategoryUpstream, CategoryIncomplete, CategoryTruncated:
		default:
			return
		}
		if c.StatusCode.Set && StatusClass(c.StatusCode.Int) != categoryNone {
			return
		}
	}
	saved := value.Value{}
	if c.Response.Exists() {
		saved = value.Of(c.Response)
	}
	if !ok {
		made = value.Value{}
	}
	made = Finite(made)
	path := firstDifference(saved, made)
	if path != "" && dialect == "chat" {
		// Older writers dropped what a model said when it refused.
		if first := firstDifference(saved, withoutRefusal(made)); first == "" {
			return
		}
	}
	if path != "" {
		add(finding.CallsStreamMismatch, name, value.M("path", value.Text(path)))
	}
}

// firstDifference names the first place where two responses differ, "" if there is none.
func firstDifference(saved, made value.Value) string {
	d := value.Differ{Most: 1}
	d.Compare("response", saved, made)
	if d.Count == 0 {
		return ""
	}
	return d.List[0].Path
}

func withoutRefusal(response value.Value) value.Value {
	choices := response.Get("choices").Items()
	for i := range choices {
		choices[i] = choices[i].With("message", choices[i].Get("message").Without("refusal"))
	}
	return response.With("choices", value.List(choices...))
}

// A Census looks at all calls of one capture together: ids that repeat, calls far away in time.
type Census struct {
	ids    map[string][]int
	order  []string
	starts []float64
	names  []string
}

// Add counts a call.
func (s *Census) Add(c *Call) {
	if c.ID.Set {
		if s.ids == nil {
			s.ids = map[string][]int{}
		}
		id := c.ID.String()
		if len(s.ids[id]) == 0 {
			s.order = append(s.order, id)
		}
		s.ids[id] = append(s.ids[id], c.Index)
	}
	if c.StartedAt.Set && !math.IsNaN(c.StartedAt.Value) && !math.IsInf(c.StartedAt.Value, 0) {
		s.starts = append(s.starts, c.StartedAt.Value)
		s.names = append(s.names, c.name())
	}
}

// farOff is how many seconds away from its neighbours a call is worth a note.
const farOff = 6 * 3600

// Report tells what was seen.
func (s *Census) Report(add Notice) {
	for _, id := range s.order {
		if list := s.ids[id]; len(list) > 1 {
			indices := make([]value.Value, len(list))
			for i, n := range list {
				indices[i] = value.Int(int64(n))
			}
			add(finding.CallsDuplicateID, value.M("id", value.Text(id)), value.M("indices", value.List(indices...)))
		}
	}
	if len(s.starts) < 2 {
		return
	}
	sorted := slices.Clone(s.starts)
	slices.Sort(sorted)
	for i, at := range s.starts {
		k, _ := slices.BinarySearch(sorted, at)
		nearest := math.Inf(1)
		if k > 0 {
			nearest = at - sorted[k-1]
		}
		if k+1 < len(sorted) {
			nearest = min(nearest, sorted[k+1]-at)
		}
		if nearest > farOff {
			add(finding.CallsFarOff, value.M("call", value.Text(s.names[i])), value.M("seconds", value.Float(math.Round(nearest))))
		}
	}
}

// Damages reports the damaged lines of a capture.
func Damages(list []Damage, add Notice) {
	if len(list) == 0 {
		return
	}
	lines := make([]value.Value, len(list))
	for i, d := range list {
		lines[i] = value.Object(value.M("line", value.Int(int64(d.Line))), value.M("reason", value.Text(d.Reason)))
	}
	add(finding.CallsDamaged, value.M("count", value.Int(int64(len(list)))), value.M("lines", value.List(lines...)))
}

// CheckAttached holds the sums of a saved attachment against the calls beside them, and those calls against each
// other; with alone set, as there is no capture to look at, also their clocks.
func CheckAttached(saved value.Value, alone bool, add Notice) {
	if !saved.IsObject() {
		return
	}
	made := metricsOf(saved.Get("calls"))
	metrics := saved.Get("metrics")
	d := value.Differ{Most: 16}
	for _, name := range MetricNames {
		d.Compare("metrics."+name, metrics.Get(name).OrNull(), made.Get(name))
	}
	for _, one := range d.List {
		add(finding.CallsMetricsMismatch, mismatch(one)...)
	}
	if !alone {
		return
	}
	var census Census
	for i, v := range saved.Get("calls").Items() {
		if v.IsObject() {
			c := attachedCall(v, i)
			checkClocks(&c, value.M("call", value.Text(c.name())), add)
			census.Add(&c)
		}
	}
	census.Report(add)
}

// mismatch are the values of a finding about a place that differs.
func mismatch(d value.Difference) []value.Member {
	return []value.Member{value.M("path", value.Text(d.Path)), value.M("saved", value.Short(d.A)), value.M("made", value.Short(d.B))}
}

// attachedCall takes of an attached call what its checks need.
func attachedCall(v value.Value, position int) Call {
	c := Call{Index: position}
	text := func(name string) lax.Text {
		s, ok := v.Get(name).Text()
		return lax.Text{Bytes: []byte(s), Set: ok}
	}
	real := func(name string) lax.Real {
		f, ok := v.Get(name).Number()
		return lax.Real{Value: f, Set: ok}
	}
	c.ID, c.ResponseID = text("model_call_id"), text("response_id")
	c.StartedAt, c.CompletedAt = real("started_at"), real("completed_at")
	c.LatencyMS, c.TTFTMS = real("latency_total_ms"), real("latency_ttft_ms")
	return c
}

// metricsOf sums the attached calls.
func metricsOf(calls value.Value) value.Value {
	var m Metrics
	for _, v := range calls.Items() {
		if !v.IsObject() {
			continue
		}
		count := func(name string) lax.Count {
			n, ok := v.Get(name).Whole()
			return lax.Count{Int: n, Set: ok}
		}
		c := Call{
			TokensIn: count("tokens_in"), TokensOut: count("tokens_out"), TokensReasoning: count("tokens_reasoning"),
			TokensTotal: count("tokens_total"), CachedTokens: count("cached_tokens"),
		}
		if f, ok := v.Get("latency_total_ms").Number(); ok {
			c.LatencyMS = lax.RealOf(f)
		}
		m.Add(&c)
	}
	made, _ := value.Parse(m.AppendJSON(nil), value.Leniency{})
	return made
}

// newFields are what version 0.7.0 added to a call record.
var newFields = map[string]bool{
	"client_session_id": true, "upstream_attempted": true, "response_source": true, "upstream_status_code": true, "local_response_reason": true,
}

// CompareAttached holds a saved attachment against one that was made again of the capture, both as documents. late
// tells that the capture has calls that came after the row.
func CompareAttached(saved, made value.Value, add Notice) (late bool) {
	was, is := saved.Get("calls").Items(), made.Get("calls").Items()
	switch {
	case len(was) > len(is):
		add(finding.CallsMissing, value.M("attached", value.Int(int64(len(was)))), value.M("captured", value.Int(int64(len(is)))))
		return true
	case len(was) < len(is):
		if !cameLate(was, is) {
			break
		}
		late = true
		add(finding.CallsLate, value.M("count", value.Int(int64(len(is)-len(was)))))
		is = is[:len(was)]
	}
	lacking := map[string]bool{}
	d := value.Differ{Most: 16, NullIsAbsent: true}
	for i := range max(len(was), len(is)) {
		var a, b value.Value
		if i < len(was) {
			a = was[i]
		}
		if i < len(is) {
			b = is[i]
			for _, m := range b.Members() {
				if newFields[m.Key] && a.IsObject() && !a.Get(m.Key).Exists() {
					lacking[m.Key] = true
					b = b.Without(m.Key)
				}
			}
		}
		if a.IsObject() {
			a = a.Without(PayloadFields[:]...)
		}
		d.Compare("calls["+strconv.Itoa(i)+"]", a, b)
	}
	d.Compare("rollout_id", saved.Get("rollout_id"), made.Get("rollout_id"))
	if !late {
		d.Compare("metrics", saved.Get("metrics"), made.Get("metrics"))
		// That no trajectory could be made, or the observations not be joined, the capture does not know.
		d.Compare("gaps", captureGaps(saved.Get("gaps")), captureGaps(made.Get("gaps")))
	}
	if len(lacking) > 0 {
		var fields []string
		for _, f := range recordFields {
			if lacking[f.name] {
				fields = append(fields, f.name)
			}
		}
		add(finding.CallsVersion, value.M("fields", value.Texts(fields)))
	}
	for _, one := range d.List {
		add(finding.CallsAttachmentMismatch, mismatch(one)...)
	}
	return late
}

// cameLate tells whether the calls that the row lacks all ended behind its last one.
func cameLate(was, is []value.Value) bool {
	last := math.Inf(-1)
	for _, v := range was {
		if at, ok := v.Get("completed_at").Number(); ok {
			last = max(last, at)
		}
	}
	for _, v := range is[len(was):] {
		if at, ok := v.Get("completed_at").Number(); ok && at <= last {
			return false
		}
	}
	return true
}

// captureGaps are the gaps that follow from the capture alone.
func captureGaps(gaps value.Value) value.Value {
	kept := []value.Value{}
	for _, g := range gaps.Items() {
		switch code, _ := g.Get("code").Text(); code {
		case GapNoRecords, GapUnreadable, GapDamaged, GapIncomplete:
			kept = append(kept, g)
		}
	}
	return value.List(kept...)
}
