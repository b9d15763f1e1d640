package verify

import (
	"bufio"
	"io"
	"strconv"

	"github.com/rollscope/rollscope/core/batch"
	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsontext"
	"github.com/rollscope/rollscope/core/omitted"
	"github.com/rollscope/rollscope/core/outcome"
	"github.com/rollscope/rollscope/core/records"
	"github.com/rollscope/rollscope/core/schema"
	"github.com/rollscope/rollscope/core/value"
)

// A writer writes a document part by part, so that long lists are never in memory twice.
type writer struct {
	w     *bufio.Writer
	first bool
	text  []byte
	err   error

	attempts []records.Attempt
}

func newWriter(w io.Writer) *writer { return &writer{w: bufio.NewWriterSize(w, 1<<16), first: true} }

func (w *writer) raw(s string) {
	if w.err == nil {
		_, w.err = w.w.WriteString(s)
	}
}

func (w *writer) open(bracket string) {
	w.raw(bracket)
	w.first = true
}

func (w *writer) close(bracket string) {
	w.raw(bracket)
	w.first = false
}

func (w *writer) comma() {
	if !w.first {
		w.raw(",")
	}
	w.first = false
}

// item writes an element of a list.
func (w *writer) item(v value.Value) {
	w.comma()
	w.value(v)
}

func (w *writer) value(v value.Value) {
	w.text = v.Append(w.text[:0], value.Plain)
	if w.err == nil {
		_, w.err = w.w.Write(w.text)
	}
}

func (w *writer) key(name string) {
	w.comma()
	w.raw(`"` + name + `":`)
}

func (w *writer) member(name string, v value.Value) {
	w.key(name)
	w.value(v)
}

// list writes a member that is a list, whose elements f gives one by one.
func (w *writer) list(name string, f func()) {
	w.key(name)
	w.open("[")
	f()
	w.close("]")
}

// end closes the document and ends its line.
func (w *writer) end() error {
	w.raw("}\n")
	if w.err == nil {
		w.err = w.w.Flush()
	}
	return w.err
}

// document starts a document with a list of runs, each of which f fills.
func (r *Report) document(to io.Writer, schema string, before func(*writer), f func(*writer, *RunReport)) error {
	w := newWriter(to)
	w.open("{")
	w.member("schema", value.Text(schema))
	if before != nil {
		before(w)
	}
	w.list("runs", func() {
		for _, run := range r.Runs {
			w.comma()
			w.open("{")
			f(w, run)
			w.close("}")
		}
	})
	return w.end()
}

// WriteVerify writes the document of the command verify (spec run-commands §2), one line of JSON.
func (r *Report) WriteVerify(to io.Writer) error {
	w := newWriter(to)
	w.open("{")
	w.member("schema", value.Text("rollscope.verify/1"))
	w.list("files", func() {
		for i := range r.Files {
			w.item(r.Files[i].document())
		}
	})
	w.list("runs", func() {
		for _, run := range r.Runs {
			w.item(run.verify())
		}
	})
	w.list("findings", func() {
		for i := range r.Findings {
			w.item(r.Findings[i].Document())
		}
	})
	w.member("counts", finding.Count(r.Findings))
	return w.end()
}

func (f *FileInfo) document() value.Value {
	members := []value.Member{value.M("path", value.Text(f.Path)), value.M("role", value.Text(f.Role)), value.M("run", value.TextOrNull(f.Run)), value.M("bytes", value.Int(f.Bytes))}
	if a := f.Account; a != nil {
		members = append(members, value.M("lines", value.Int(a.Lines)), value.M("rows", value.Int(a.Rows)), value.M("blank", value.Int(a.Blank)), value.M("unreadable", value.Int(a.Unreadable)))
	}
	return value.Object(members...)
}

func (r *RunReport) verify() value.Value {
	runID := value.Null
	if r.HasRunID {
		runID = value.Text(r.RunID)
	}
	d := &r.Digests
	return value.Object(
		value.M("run", value.Text(r.Key)), value.M("output", value.TextOrNull(r.Output)),
		value.M("dialect", value.Text(string(r.Dialect))), value.M("reading", value.Text(string(r.Reading))),
		value.M("run_id", runID), value.M("first_error", value.TextOrNull(r.FirstError)), value.M("reliable", value.Bool(r.Reliable)),
		value.M("resume", value.Object(value.M("outcome", value.Text(string(r.Resume.Outcome))), value.M("codes", value.Texts(r.Resume.Codes)))),
		value.M("digests", value.Object(
			value.M("materialized", value.TextOrNull(d.Materialized)), value.M("materialized_resume", value.TextOrNull(d.MaterializedResume)),
			value.M("materialized_saved", orNull(d.MaterializedSaved, r.HasRunID)), value.M("source_saved", orNull(d.SourceSaved, r.HasRunID)),
			value.M("config_saved", orNull(d.ConfigSaved, r.HasRunID)))))
}

// orNull is a text that may be empty, or null if it is not there.
func orNull(text string, there bool) value.Value {
	if !there {
		return value.Null
	}
	return value.Text(text)
}

// head writes what all documents say about a run.
func (r *RunReport) head(w *writer) {
	w.member("run", value.Text(r.Key))
	w.member("dialect", value.Text(string(r.Dialect)))
	w.member("reading", value.Text(string(r.Reading)))
	w.member("reliable", value.Bool(r.Reliable))
}

// WriteCoverage writes the document of the command coverage (spec run-commands §4).
func (r *Report) WriteCoverage(to io.Writer) error {
	return r.document(to, "rollscope.coverage/1", nil, func(w *writer, run *RunReport) {
		run.head(w)
		derived, zeros, saved, legacy := value.Null, value.Null, value.Null, value.Null
		if run.Coverage != nil {
			derived = run.Coverage.Document()
			zeros = value.Object(value.M("failures_by_class", finding.Counts(run.Zeros.ByClass)), value.M("imputable", value.Int(run.Zeros.Imputable)))
		}
		if run.Saved != nil {
			differences := []value.Value{}
			for _, d := range run.Check.Differences {
				differences = append(differences, value.Object(value.M("field", value.Text(d.Field)), value.M("saved", d.Saved), value.M("derived", d.Derived)))
			}
			saved = value.Object(value.M("path", value.Text(run.Saved.Path)), value.M("comparison", value.Text(string(run.Check.Comparison))),
				value.M("differences", value.List(differences...)), value.M("extra_fields", value.Texts(run.Check.Extra)))
		}
		if run.Legacy != nil {
			legacy = run.numbers()
		}
		w.member("derived", derived)
		w.member("zero_candidates", zeros)
		w.member("saved", saved)
		w.member("legacy", legacy)
		w.member("counts", finding.Count(run.Findings, "coverage."))
	})
}

// numbers are the sums of the legacy reading as documents have them.
func (r *RunReport) numbers() value.Value {
	n := r.Numbers()
	inputs := r.Present[records.Inputs]
	known := func(k int64) value.Value {
		if !inputs {
			return value.Null
		}
		return value.Int(k)
	}
	expected := r.Accounts[records.Inputs].Lines
	return value.Object(
		value.M("inputs", known(n.Inputs)), value.M("done", value.Int(n.Done)),
		value.M("failure_rows", value.Int(n.FailureRows)), value.M("failure_keys", value.Int(n.FailureKeys)),
		value.M("terminal", value.Int(n.Terminal)), value.M("maxed", value.Int(n.Maxed)), value.M("to_run", known(n.ToRun)),
		value.M("expected", known(expected)), value.M("persisted", value.Int(n.Done)), value.M("missing", known(expected-n.Done)),
		value.M("imputable", known(n.Imputable)), value.M("unroutable", known(n.Unroutable)))
}

// WriteRecords writes the document of the command records (spec run-commands §5). keep, if it is not nil, chooses the
// rollouts that are listed; sums and the other lists are those of all.
func (r *Report) WriteRecords(to io.Writer, keep func(*RunReport, *records.Rollout) bool) error {
	return r.document(to, "rollscope.records/1", nil, func(w *writer, run *RunReport) {
		run.head(w)
		w.member("max_rollout_attempts", value.Int(run.Settings.MaxAttempts))
		w.member("retry_terminal_timeouts", value.Bool(run.Settings.Override))
		w.list("rollouts", func() {
			if run.Index == nil {
				return
			}
			for i := range run.Index.Len() {
				e := run.Index.Rollout(i, run.Settings)
				if keep == nil || keep(run, &e) {
					run.rollout(w, i, &e)
				}
			}
		})
		w.list("pending", func() {
			for _, p := range run.Pending() {
				w.item(value.Object(value.M("id", value.Text(run.Index.Rollout(p.Rollout, run.Settings).ID)), value.M("attempt", value.Whole(p.Attempt)),
					value.M("reuse_cached_deliverable", value.Bool(p.Reuse))))
			}
		})
		w.list("failures", func() {
			for i := range run.Failures {
				run.failure(w, &run.Failures[i])
			}
		})
		w.member("failure_classes", value.Object(value.M("rows", finding.Counts(run.Classes.Rows)), value.M("selected", finding.Counts(run.Classes.Selected))))
		w.list("omissions", func() {
			run.Omissions(func(o omitted.Omission) { w.item(omission(o)) })
		})
		w.list("evidence", func() {
			for _, e := range run.Evidence.Rows {
				w.item(value.Object(value.M("file", value.Text(run.Place.Path(e.File))), value.M("line", value.Int(e.Line)), value.M("id", value.TextOrNull(e.ID)),
					value.M("kind", value.Text(e.Kind.String())), value.M("class", parsed(e.Class)), value.M("reason", value.Text(e.Reason))))
			}
		})
		w.member("counts", finding.Count(run.Findings, "records.", "outcomes.", "omitted."))
	})
}

func whole(n integer.Int, known bool) value.Value {
	if !known {
		return value.Null
	}
	return value.Whole(n)
}

// rollout writes an expected rollout. There may be millions of them, so their texts are put together without values in
// between.
func (r *RunReport) rollout(w *writer, i int, e *records.Rollout) {
	w.attempts = r.Index.AppendAttempts(w.attempts[:0], i)
	b := append(w.text[:0], `{"id":`...)
	b = jsontext.AppendQuoted(b, e.ID)
	b = appendMember(b, "task", e.Task)
	b = appendMember(b, "rollout", e.Index)
	b = append(b, `,"agent":`...)
	if e.HasAgent {
		b = jsontext.AppendQuoted(b, e.Agent)
	} else {
		b = append(b, "null"...)
	}
	b = strconv.AppendInt(append(b, `,"line":`...), e.Line, 10)
	b = appendWord(b, "disposition", string(e.Disposition))
	b = appendWord(b, "measurement", string(e.Measurement))
	b = appendWhole(b, "latest", e.Latest, e.HasLatest)
	b = appendWhole(b, "next_attempt", e.Next, e.Reserved)
	b = appendBool(b, "retryable", e.Retryable)
	b = appendBool(b, "exhausted", e.Exhausted)
	b = strconv.AppendInt(append(b, `,"counted_failures":`...), e.CountedFailures, 10)
	b = append(b, `,"attempts":[`...)
	for k := range w.attempts {
		if k > 0 {
			b = append(b, ',')
		}
		b = r.appendAttempt(b, &w.attempts[k])
	}
	w.text = append(b, "]}"...)
	w.comma()
	if w.err == nil {
		_, w.err = w.w.Write(w.text)
	}
}

func (r *RunReport) appendAttempt(b []byte, a *records.Attempt) []byte {
	b = a.Number.Append(append(b, `{"attempt":`...))
	b = value.Text(r.Place.Path(a.File)).Append(append(b, `,"file":`...), value.Plain)
	b = strconv.AppendInt(append(b, `,"line":`...), a.Line, 10)
	b = strconv.AppendInt(append(b, `,"offset":`...), a.Offset, 10)
	b = strconv.AppendInt(append(b, `,"length":`...), a.Length, 10)
	b = appendMember(b, "class", a.Class)
	b = appendBool(b, "terminal", a.Terminal)
	b = appendBool(b, "omitted", a.Omitted)
	b = appendBool(b, "masked", a.Masked)
	b = appendBool(b, "has_reward", a.Scored)
	b = appendBool(b, "reuse_cached_deliverable", a.Reuse)
	b = records.Seconds(a.Elapsed).Append(append(b, `,"elapsed_seconds":`...), value.Plain)
	return append(appendBool(b, "selected", a.Selected), '}')
}

// appendMember appends a member whose JSON is at hand, null if it is empty.
func appendMember(b []byte, name, text string) []byte {
	b = appendName(b, name)
	if text == "" {
		return append(b, "null"...)
	}
	return append(b, text...)
}

func appendName(b []byte, name string) []byte {
	return append(append(append(b, `,"`...), name...), `":`...)
}

// appendWord appends a member that is one of our own words, null if it is empty.
func appendWord(b []byte, name, word string) []byte {
	b = appendName(b, name)
	if word == "" {
		return append(b, "null"...)
	}
	return append(append(append(b, '"'), word...), '"')
}

func appendBool(b []byte, name string, is bool) []byte {
	return strconv.AppendBool(appendName(b, name), is)
}

func appendWhole(b []byte, name string, n integer.Int, known bool) []byte {
	b = appendName(b, name)
	if !known {
		return append(b, "null"...)
	}
	return n.Append(b)
}

// failure writes a row of the sidecar, of which there may be as many.
func (r *RunReport) failure(w *writer, f *Failure) {
	b := value.Text(r.Place.Failures).Append(append(w.text[:0], `{"file":`...), value.Plain)
	b = strconv.AppendInt(append(b, `,"line":`...), f.Line, 10)
	b = strconv.AppendInt(append(b, `,"offset":`...), f.Offset, 10)
	b = appendText(b, "id", f.ID, true)
	b = appendWhole(b, "attempt", f.Attempt, f.Stored)
	b = appendMember(b, "class", f.Class)
	vocabulary := ""
	if f.Class != "" {
		vocabulary = string(Vocabulary(f.Class))
	}
	b = appendWord(b, "vocabulary", vocabulary)
	b = appendBool(b, "evidence", f.Evidence != outcome.NoEvidence)
	b = appendBool(b, "terminal", f.Terminal)
	b = appendBool(b, "terminal_with_override", f.TerminalOver)
	b = appendMember(b, "delivery", f.Delivery)
	b = appendMember(b, "source", f.Source)
	b = appendText(b, "kind", f.Kind, true)
	b = appendMember(b, "stage", f.Stage)
	b = appendMember(b, "http_status", f.Status)
	b = appendText(b, "reason", f.Reason, false)
	b = appendBool(b, "stored", f.Stored)
	b = appendBool(b, "counted", f.Counted)
	w.text = append(appendBool(b, "selected", f.Selected), '}')
	w.comma()
	if w.err == nil {
		_, w.err = w.w.Write(w.text)
	}
}

// appendText appends a member that is a text from a row; null if it is empty and may be.
func appendText(b []byte, name, text string, nullable bool) []byte {
	b = appendName(b, name)
	if text == "" && nullable {
		return append(b, "null"...)
	}
	return jsontext.AppendQuoted(b, text)
}

// Vocabulary tells where the name of a class, given as JSON, comes from.
func Vocabulary(class string) outcome.Vocabulary {
	if text, ok := parsed(class).Text(); ok {
		return outcome.VocabularyOf(text)
	}
	return outcome.Unregistered
}

func omission(o omitted.Omission) value.Value {
	return value.Object(
		value.M("id", value.TextOrNull(o.ID)), value.M("task", parsed(o.Task)), value.M("rollout", parsed(o.Index)), value.M("agent", orNull(o.Agent, o.HasAgent)),
		value.M("state", value.Text(string(o.State))), value.M("attempt", whole(o.Attempt, o.HasAttempt)), value.M("class", parsed(o.Class)),
		value.M("reason", value.Text(o.Reason)), value.M("evidence", value.Int(o.Evidence)))
}

// WriteBatch writes the document of the command batch (spec run-commands §6).
func (r *Report) WriteBatch(to io.Writer) error {
	manifests := func(w *writer) {
		w.list("manifests", func() {
			for i := range r.Manifests {
				m := &r.Manifests[i]
				w.item(value.Object(value.M("path", value.Text(m.Path)), value.M("manifest_sha256", value.TextOrNull(m.SHA256)), value.M("result", value.Text(string(m.Result))),
					value.M("errors", schema.Value(m.Faults)), value.M("run", value.TextOrNull(m.Run))))
			}
		})
	}
	return r.document(to, "rollscope.batch/1", manifests, func(w *writer, run *RunReport) {
		b := &run.Batch
		observed, members, saved := value.Null, value.Null, value.Null
		failures := []value.Value{}
		if o := b.Observation; o != nil {
			agents := []value.Value{}
			for i := range o.Agents {
				agents = append(agents, o.Agents[i].Document())
			}
			observed = value.List(agents...)
			for _, e := range o.Errors {
				line, offset := value.Null, value.Null
				if e.Line > 0 {
					line, offset = value.Int(e.Line), value.Int(e.Offset)
				}
				failures = append(failures, value.Object(value.M("id", value.Text(e.ID)), value.M("line", line), value.M("offset", offset), value.M("values", value.Object(e.Values...))))
			}
		}
		if b.Manifest != "" {
			members = batch.Members(b.Members)
		}
		if b.StatusPath != "" {
			differences := []value.Value{}
			for i := range b.Status.Differences {
				differences = append(differences, b.Status.Differences[i].Document())
			}
			saved = value.Object(value.M("path", value.Text(b.StatusPath)), value.M("comparison", value.Text(string(b.Status.Comparison))), value.M("differences", value.List(differences...)))
		}
		w.member("run", value.Text(run.Key))
		w.member("observed", observed)
		w.member("errors", value.List(failures...))
		w.member("manifest", value.TextOrNull(b.Manifest))
		w.member("members", members)
		w.member("saved", saved)
		w.member("counts", finding.Count(run.Findings, "batch."))
	})
}
