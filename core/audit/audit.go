package audit

import (
	"slices"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/perf"
	"github.com/rollscope/rollscope/core/projection"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/store"
	"github.com/rollscope/rollscope/core/trajectory"
	"github.com/rollscope/rollscope/core/value"
)

// An Auditor audits the rows of one run. Set the fields, give it the rows, and finish.
type Auditor struct {
	Run      string
	Inputs   *projection.Inputs  // nil where the materialized inputs are not there
	Captures projection.Captures // nil where no captures are there

	Counts Counts

	rows    rollout.Reader
	calls   modelcall.Reader
	reader  trajectory.Reader
	bundles trajectory.Reader
	builder trajectory.Builder
	attach  modelcall.Attachment
	input   projection.Input

	keys    map[string]bool
	missing []finding.Finding // of ng_perf, to be told if other rows have one
	perfs   bool
}

// Counts say how much an audit has looked at.
type Counts struct {
	Rows, Unreadable               int
	Attached, Captured             int // rows with attached calls; of them, those whose capture is there
	Trajectories, Valid            int
	FromCalls, FromProducer, Other int // valid ones by where their turns come from
	Perf                           int
}

// Row looks at one non-blank line of a file and gives what it finds.
func (a *Auditor) Row(file string, line *jsonl.Line) []finding.Finding {
	var list []finding.Finding
	row := a.rows.Read(line)
	a.Counts.Rows++
	if row.Problem != nil {
		a.Counts.Unreadable++
		return a.refused(file, line)
	}
	names := modelcall.NamesOf(row)
	key, bad := names.Key()
	place := func(f finding.Finding) finding.Finding {
		return f.At(line.Number, line.Offset).Of(key)
	}
	severity := finding.Severity("")
	add := func(id string, values ...value.Member) {
		f := place(finding.New(id, a.Run, file, values...))
		if severity != "" {
			f = f.As(severity)
		}
		list = append(list, f)
	}
	if e, ok := bad.(*modelcall.BadKeyError); ok {
		add(finding.CallsBadRolloutID, value.M("member", value.Text(e.Member)), value.M("value", value.Text(e.Value)))
	}
	if key != "" {
		a.know(key)
	}
	saved := row.Value.Get("ng_model_call_capture")
	attachment := value.Value{}
	if saved.IsObject() {
		attachment = value.Of(saved)
		a.Counts.Attached++
	}
	capture := a.capture(key, attachment, add)
	if attachment.Exists() {
		modelcall.CheckAttached(attachment, capture == nil, add)
	}

	var bundle *trajectory.Bundle
	if observed := row.Value.Get("ng_agent_observations"); !observed.IsNull() {
		if b, err := a.bundles.ReadBundle(observed); err == nil {
			bundle = b
		}
	}
	record := a.trajectory(row, attachment, bundle, capture, add, func(s finding.Severity) { severity = s })

	if !row.Perf.IsNull() {
		a.perfs = true
		a.Counts.Perf++
	}
	numbers := value.Value{}
	if !row.Perf.IsNull() {
		numbers = value.Of(row.Perf)
	}
	if perf.Check(numbers, record, add) && row.Perf.IsNull() {
		a.missing = append(a.missing, place(finding.New(finding.PerfMissing, a.Run, file)))
	}
	return list
}

// refused tells of a line that is no row.
func (a *Auditor) refused(file string, line *jsonl.Line) []finding.Finding {
	var lines store.Reader
	if _, ok := lines.Read(line); !ok && len(lines.Faults) > 0 {
		return []finding.Finding{lines.Faults[0].Finding(a.Run, file).At(line.Number, line.Offset)}
	}
	// The readers of rows do not agree on every line.
	f := finding.New(finding.MalformedLine, a.Run, file, value.M("bytes", value.Int(line.Length)))
	return []finding.Finding{f.At(line.Number, line.Offset)}
}

// Sidecar takes a row of the failures sidecar: captures of failed rollouts belong to it.
func (a *Auditor) Sidecar(line *jsonl.Line) {
	row := a.rows.Read(line)
	if row.Problem != nil {
		return
	}
	names := modelcall.NamesOf(row)
	if key, err := names.Key(); err == nil && key != "" {
		a.know(key)
	}
}

func (a *Auditor) know(key string) {
	if a.keys == nil {
		a.keys = map[string]bool{}
	}
	a.keys[key] = true
}

// A captured row has its capture at hand.
type captured struct {
	data    []byte
	partial bool // the capture is not, or not only, the row's
}

// capture holds the attached calls against their capture; nil where there is none.
func (a *Auditor) capture(key string, attachment value.Value, add modelcall.Notice) *captured {
	if key == "" {
		return nil
	}
	var data []byte
	found, marker := false, false
	if a.Captures != nil {
		var err error
		if data, found, marker, err = a.Captures.Capture(key); err != nil {
			found = false
		}
	}
	if marker {
		add(finding.CallsIncomplete, value.M("key", value.Text(key)))
	}
	if !found {
		if n := attachment.Get("calls").Len(); n > 0 {
			add(finding.CallsNoCapture, value.M("calls", value.Int(int64(n))), value.M("key", value.Text(key)))
		}
		return nil
	}
	var census modelcall.Census
	a.calls.Reset()
	a.attach.Reset(key)
	scan := modelcall.Scan{Reader: &a.calls}
	scan.Data(data, func(c *modelcall.Call) {
		modelcall.CheckCall(c, add)
		census.Add(c)
		a.attach.Add(c)
	})
	modelcall.Damages(scan.Damaged, add)
	census.Report(add)
	a.attach.Gaps = scan.Gaps(found, marker)
	c := &captured{data: data}
	if !attachment.Exists() {
		return c
	}
	a.Counts.Captured++
	made, err := value.Parse(a.attach.AppendJSON(nil, nil), value.Leniency{})
	if err != nil {
		return nil
	}
	c.partial = modelcall.CompareAttached(attachment, made, add)
	return c
}

// trajectory looks at the trajectory of a row and gives its record, nil where there is none that is valid.
func (a *Auditor) trajectory(row *rollout.Row, attachment value.Value, bundle *trajectory.Bundle, capture *captured, add modelcall.Notice, as func(finding.Severity)) *trajectory.Record {
	saved := row.Trajectory
	if saved.IsNull() {
		if bundle != nil && attachment.Exists() {
			a.builder.CheckJoin(bundle, attachment, add)
		}
		return nil
	}
	a.Counts.Trajectories++
	if version := saved.Get("schema_version"); version.IsString() && !version.Is("1.0") {
		add(finding.TrajSchemaVersion, value.M("version", value.Text(version.Text())))
		return nil
	}
	record, err := a.reader.Read(saved)
	if err != nil {
		invalid := err.(*trajectory.Invalid)
		add(finding.TrajInvalid, value.M("class", value.Text(invalid.Class)), value.M("path", value.Text(invalid.Path)), value.M("reason", value.Text(invalid.Reason)))
		return nil
	}
	a.Counts.Valid++
	known := a.Inputs != nil && a.Inputs.Open(&a.input, row)
	origin := trajectory.OriginOf(row)
	if known {
		origin = a.input.Origin
	}
	trajectory.CheckIdentity(record, &origin, known, add)
	if attachment.Exists() {
		trajectory.CheckTokens(record, attachment, add)
	}
	from := ""
	if !record.Has(modelcall.GapProjection) {
		from = a.compare(row, origin, known, attachment, capture, add, as)
	}
	switch from {
	case trajectory.FromCalls:
		a.Counts.FromCalls++
	case trajectory.FromProducer:
		a.Counts.FromProducer++
	default:
		a.Counts.Other++
	}
	trajectory.Check(record, bundle, from == trajectory.FromProducer, add)
	if bundle != nil && attachment.Exists() {
		a.builder.CheckJoin(bundle, attachment, add)
	}
	return record
}

// compare builds the trajectory again and tells where its turns come from, "" if it is none that the evidence gives.
func (a *Auditor) compare(row *rollout.Row, origin trajectory.Origin, known bool, attachment value.Value, capture *captured, add modelcall.Notice, as func(finding.Severity)) string {
	observed := row.Value.Get("ng_agent_observations")
	c := trajectory.Comparison{
		Parts: trajectory.Parts{
			Origin: origin, Observations: observed, Attachment: row.Value.Get("ng_model_call_capture"), Resolved: row.Value.Get("resolved"),
		},
		NoTask: !known, Partial: capture == nil || capture.partial,
	}
	if capture != nil && !capture.partial {
		payload := !projection.Redacted(row.Trajectory) && !projection.Redacted(observed)
		c.Parts.Attachment = jsonscan.Value{}
		c.Parts.Gaps = attachedGaps(attachment, a.attach.Gaps)
		c.Calls = func(b *trajectory.Builder) {
			a.calls.Reset()
			scan := modelcall.Scan{Reader: &a.calls}
			scan.Data(capture.data, func(call *modelcall.Call) { b.Add(call, payload) })
		}
	}
	found, err := a.builder.Compare(row.Trajectory, &c)
	if err != nil {
		return ""
	}
	if found.Equal() {
		return found.From
	}
	if c.Partial {
		as(finding.Warning)
		defer as("")
	}
	add(finding.TrajMismatch, value.M("count", value.Int(int64(found.Count))), value.M("origin", value.Text(found.From)),
		value.M("path", value.Text(found.First.Path)), value.M("saved", value.Short(found.First.A)), value.M("made", value.Short(found.First.B)))
	return ""
}

// attachedGaps are the gaps that an attachment had when the trajectory was built: those of the capture, and what the
// join added.
func attachedGaps(attachment value.Value, capture []modelcall.Gap) []modelcall.Gap {
	gaps := slices.Clone(capture)
	for _, g := range attachment.Get("gaps").Items() {
		if code := g.Get("code"); code.Is(modelcall.GapJoinFailed) {
			gaps = append(gaps, modelcall.Gap{Code: modelcall.GapJoinFailed})
		}
	}
	return gaps
}

// Files tells of the files in the capture directories which of them belong to no row.
func (a *Auditor) Files(dir string, names []string) []finding.Finding {
	var list []finding.Finding
	told := map[string]bool{}
	for _, name := range names {
		key, kind := modelcall.File(name)
		path := name
		if dir != "" {
			path = dir + "/" + name
		}
		named := value.M("key", value.Text(key))
		switch kind {
		case modelcall.FileBadKey:
			list = append(list, finding.New(finding.CallsBadKey, a.Run, path, named))
		case modelcall.FileClaim:
			list = append(list, finding.New(finding.CallsUnfinishedClaim, a.Run, path, named).Of(key))
		case modelcall.FileCapture, modelcall.FileMarker:
			if !a.keys[key] && !told[key] {
				told[key] = true
				list = append(list, finding.New(finding.CallsOrphanCapture, a.Run, path, named).Of(key))
			}
		}
	}
	return list
}

// Finish tells what only the whole run shows.
func (a *Auditor) Finish() []finding.Finding {
	if !a.perfs {
		return nil
	}
	return a.missing
}

// Add adds the counts of another run.
func (c Counts) Add(d Counts) Counts {
	return Counts{
		c.Rows + d.Rows, c.Unreadable + d.Unreadable, c.Attached + d.Attached, c.Captured + d.Captured,
		c.Trajectories + d.Trajectories, c.Valid + d.Valid, c.FromCalls + d.FromCalls, c.FromProducer + d.FromProducer,
		c.Other + d.Other, c.Perf + d.Perf,
	}
}
