package verify

import (
	"bufio"
	"io"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/integer"
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
					w.item(run.rollout(i, &e))
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
				w.item(run.failure(&run.Failures[i]))
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

// rollout is an expected rollout as documents have it.
func (r *RunReport) rollout(i int, e *records.Rollout) value.Value {
	attempts := []value.Value{}
	for _, a := range r.Index.Attempts(i) {
		attempts = append(attempts, value.Object(
			value.M("attempt", value.Whole(a.Number)), value.M("file", value.Text(r.Place.Path(a.File))),
			value.M("line", value.Int(a.Line)), value.M("offset", value.Int(a.Offset)), value.M("length", value.Int(a.Length)),
			value.M("class", parsed(a.Class)), value.M("terminal", value.Bool(a.Terminal)), value.M("omitted", value.Bool(a.Omitted)),
			value.M("masked", value.Bool(a.Masked)), value.M("has_reward", value.Bool(a.Scored)), value.M("reuse_cached_deliverable", value.Bool(a.Reuse)),
			value.M("elapsed_seconds", records.Seconds(a.Elapsed)), value.M("selected", value.Bool(a.Selected))))
	}
	return value.Object(
		value.M("id", value.Text(e.ID)), value.M("task", parsed(e.Task)), value.M("rollout", parsed(e.Index)), value.M("agent", orNull(e.Agent, e.HasAgent)),
		value.M("line", value.Int(e.Line)), value.M("disposition", value.Text(string(e.Disposition))), value.M("measurement", value.TextOrNull(string(e.Measurement))),
		value.M("latest", whole(e.Latest, e.HasLatest)), value.M("next_attempt", whole(e.Next, e.Reserved)),
		value.M("retryable", value.Bool(e.Retryable)), value.M("exhausted", value.Bool(e.Exhausted)), value.M("counted_failures", value.Int(e.CountedFailures)),
		value.M("attempts", value.List(attempts...)))
}

// failure is a row of the sidecar as documents have it.
func (r *RunReport) failure(f *Failure) value.Value {
	vocabulary := value.Null
	if f.Class != "" {
		vocabulary = value.Text(string(Vocabulary(f.Class)))
	}
	return value.Object(
		value.M("file", value.Text(r.Place.Failures)), value.M("line", value.Int(f.Line)), value.M("offset", value.Int(f.Offset)),
		value.M("id", value.TextOrNull(f.ID)), value.M("attempt", whole(f.Attempt, f.Stored)), value.M("class", parsed(f.Class)), value.M("vocabulary", vocabulary),
		value.M("evidence", value.Bool(f.Evidence != outcome.NoEvidence)), value.M("terminal", value.Bool(f.Terminal)), value.M("terminal_with_override", value.Bool(f.TerminalOver)),
		value.M("delivery", parsed(f.Delivery)), value.M("source", parsed(f.Source)), value.M("kind", value.TextOrNull(f.Kind)), value.M("stage", parsed(f.Stage)),
		value.M("http_status", parsed(f.Status)), value.M("reason", value.Text(f.Reason)),
		value.M("stored", value.Bool(f.Stored)), value.M("counted", value.Bool(f.Counted)), value.M("selected", value.Bool(f.Selected)))
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
			members = batchMembers(b)
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
