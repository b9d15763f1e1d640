package records

import (
	"math"
	"strconv"

	"github.com/rollscope/rollscope/core/finding"
	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/jsontext"
	"github.com/rollscope/rollscope/core/outcome"
	"github.com/rollscope/rollscope/core/schema"
	"github.com/rollscope/rollscope/core/value"
)

// A File is one of the three files that hold rows of a run.
type File uint8

// The files.
const (
	Inputs File = iota
	Failures
	Results
)

// Flags are the yes-or-no facts of a row.
type Flags uint32

// The flags.
const (
	Terminal      Flags = 1 << iota // _ng_failure_terminal is truthy
	Omitted                         // _ng_omitted is truthy
	Masked                          // mask_sample is truthy
	Scored                          // reward is a number
	Reuse                           // reuse_cached_deliverable is truthy
	NoPersist                       // _ng_no_persist is truthy
	ModelFinal                      // _ng_failure_counts_as_zero is truthy
	InvalidJudge                    // invalid_judge_response is truthy
	Odd                             // a result in a shape the collector would not have taken
	Server                          // _ng_environment_server is there and not null
	Routable                        // an agent or an environment server is named
	AgentRef                        // agent_ref is truthy
	AgentName                       // agent_ref has a name that is a text
	Recorded                        // the key _ng_failure_record is there
	RecordFinal                     // the structured failure says terminal
	RunIDUntyped                    // _ng_run_id is an array or an object
	CutReason                       // the reason has the length at which reasons are cut
	PlainResponse                   // response is truthy and no object: the reference stops
	PlainMetadata                   // so is response.metadata
)

// A Row is what is kept of one row. Texts that are JSON values are canonical (spec recovery §3) and empty when the
// member is absent. A row belongs to its reader and is valid until the next one is read.
type Row struct {
	File     File
	Evidence outcome.Evidence
	Flags    Flags
	Line     int64
	Offset   int64
	Length   int64 // with the line end, if there is one

	ID      []byte // logical id, empty if there is none that is valid
	NoID    bool   // there is none because indices are missing
	Task    []byte // JSON of _ng_task_index
	Rollout []byte // JSON of _ng_rollout_index
	Attempt []byte // JSON of _ng_attempt_index
	RunID   []byte // JSON of _ng_run_id
	Class   []byte // JSON of _ng_failure_class, empty also if it is null
	Reward  []byte // JSON of a reward that is a number
	Agent   []byte // text; see AgentName
	Elapsed float64

	// Of failures and omissions.
	Reason                          []byte // text
	Kind                            []byte // text of a stated failure kind
	Delivery, Source, Stage, Status []byte // JSON

	// Of a structured failure: its faults, or what must agree with the row.
	Faults                           []schema.Fault
	RecordID, RecordRun, RecordClass []byte
	RecordAttempt                    integer.Int

	buffer []byte
}

// Is tells whether all the flags are set.
func (r *Row) Is(f Flags) bool { return r.Flags&f == f }

// IdentityFault is the finding about a row without a valid logical id.
func (r *Row) IdentityFault() string {
	if r.NoID {
		return finding.NoIdentity
	}
	return finding.BadIdentity
}

// At gives a finding the place of the row.
func (r *Row) At(f finding.Finding) finding.Finding { return f.At(r.Line, r.Offset) }

// AttemptNumber is the attempt that the row names, 0 if it names none. ok is false if what it names is no count.
func (r *Row) AttemptNumber() (n integer.Int, ok bool) {
	if len(r.Attempt) == 0 {
		return n, true
	}
	return count(r.Attempt)
}

// count reads the JSON of a whole number from 0 on.
func count(text []byte) (n integer.Int, ok bool) {
	for _, c := range text {
		if c-'0' > 9 {
			return n, false
		}
	}
	return integer.Parse(string(text))
}

// rowNames are the members that rows are read for: those of which the value is kept, then those that are flags.
var rowNames = jsonscan.NewNames(
	"_ng_task_index", "_ng_rollout_index", "_ng_rollout_id", "_ng_attempt_index", "_ng_run_id", "agent_ref",
	"_ng_environment_server", "reward", "response", "elapsed_seconds", "execute_only", "_ng_task_id",
	"_ng_failure_class", "_ng_failure_record", "_ng_failure_message", "_ng_failure_http_status", "error", "error_message",
	"_ng_omitted_rollout", "_ng_unrouted_run_error", "_ng_dispatch_drained", "mask_sample", "reuse_cached_deliverable", "invalid_judge_response",
	"_ng_failure_terminal", "_ng_failure_counts_as_zero", "_ng_omitted", "_ng_no_persist",
)

const (
	firstFlag   = 21
	memberCount = 28
)

// Reader makes rows and reuses its memory. The zero Reader is ready.
type Reader struct {
	row     Row
	writer  value.Writer
	members [memberCount]jsonscan.Value
}

// Read makes the row of a scanned line.
func (r *Reader) Read(v jsonscan.Value, file File, line, offset, length int64) *Row {
	row := &r.row
	*row = Row{File: file, Line: line, Offset: offset, Length: length, buffer: row.buffer[:0]}
	var task, rollout, id, attempt, run, class, reward, agent, server, response, elapsed, record jsonscan.Value
	var message, errText, errorMessage, status, executeOnly, taskID, unrouted, drained, omittedRollout jsonscan.Value
	m := &r.members
	clear(m[:])
	v.Gather(rowNames, m[:])
	for i, to := range [...]*jsonscan.Value{
		&task, &rollout, &id, &attempt, &run, &agent, &server, &reward,
		&response, &elapsed, &executeOnly, &taskID, &class, &record, &message, &status,
		&errText, &errorMessage, &omittedRollout, &unrouted, &drained,
	} {
		*to = m[i]
	}
	for i, f := range [...]Flags{Masked, Reuse, InvalidJudge, Terminal, ModelFinal, Omitted, NoPersist} {
		if m[firstFlag+i].Truthy() {
			row.Flags |= f
		}
	}
	row.Task, row.Rollout = r.json(task), r.json(rollout)
	r.identify(id, task, rollout)
	r.agent(agent, server)
	if file == Inputs {
		return row
	}
	row.Attempt, row.RunID = r.json(attempt), r.json(run)
	if run.IsArray() || run.IsObject() {
		row.Flags |= RunIDUntyped
	}
	if !class.IsNull() {
		row.Class = r.json(class)
	}
	if kind := reward.Kind(); kind == jsonscan.Int || kind == jsonscan.Float {
		row.Flags |= Scored
		if file == Failures {
			row.Reward = r.json(reward)
		}
	}
	row.Evidence = outcome.EvidenceOf(omittedRollout.Truthy(), unrouted.Truthy(), drained.Truthy(), class.Text())
	var crash string
	switch row.Elapsed, crash = outcome.Elapsed(elapsed, response); crash {
	case "response":
		row.Flags |= PlainResponse
	case "response.metadata":
		row.Flags |= PlainMetadata
	}
	if file == Results && len(row.Class) == 0 && outcome.Odd(response, reward, executeOnly, taskID) {
		row.Flags |= Odd
	}
	if file == Failures || len(row.Class) > 0 || row.Is(Omitted) || row.Evidence != outcome.NoEvidence {
		r.explain(record, message, errText, errorMessage, status)
	}
	if record.Exists() {
		r.record(record)
	}
	return row
}

// identify finds the logical id (spec records §2).
func (r *Reader) identify(id, task, rollout jsonscan.Value) {
	row := &r.row
	from := len(row.buffer)
	switch {
	case !id.IsNull():
		row.buffer = id.AppendText(row.buffer)
	case task.IsNull() || rollout.IsNull():
		row.NoID = true
		return
	default:
		row.buffer = appendIndex(row.buffer, task)
		row.buffer = append(row.buffer, '-')
		row.buffer = appendIndex(row.buffer, rollout)
	}
	if text := row.buffer[from:]; outcome.ValidID(text) {
		row.ID = text[:len(text):len(text)]
		return
	}
	row.buffer = row.buffer[:from]
}

// appendIndex appends an index as it stands in a logical id. Containers append what no id can hold.
func appendIndex(dst []byte, v jsonscan.Value) []byte {
	switch v.Kind() {
	case jsonscan.String:
		return v.AppendText(dst)
	case jsonscan.Int:
		n, _ := v.Integer()
		return n.Append(dst)
	case jsonscan.Float:
		f, _ := v.Float()
		return jsontext.AppendRepr(dst, f)
	case jsonscan.Bool:
		if v.Truthy() {
			return append(dst, "True"...)
		}
		return append(dst, "False"...)
	}
	return append(dst, '[')
}

func (r *Reader) agent(ref, server jsonscan.Value) {
	row := &r.row
	if ref.Truthy() {
		row.Flags |= AgentRef
	}
	if name := ref.Get("name"); name.IsString() {
		row.Flags |= AgentName
		row.Agent = r.text(name)
	}
	if !server.IsNull() {
		row.Flags |= Server
	}
	if len(row.Agent) > 0 || server.IsString() && server.Truthy() {
		row.Flags |= Routable
	}
}

// explain keeps what a list of failures shows.
func (r *Reader) explain(record, message, errText, errorMessage, status jsonscan.Value) {
	row := &r.row
	reason := outcome.Reason(record, message, errText, errorMessage)
	row.Reason = r.keep(reason)
	if runes(reason) == outcome.ReasonLength {
		row.Flags |= CutReason
	}
	row.Delivery = r.keep(possiblyDelivered)
	if record.IsObject() {
		failure := record.Get("failure")
		row.Delivery, row.Source, row.Stage = r.json(record.Get("delivery")), r.json(record.Get("source")), r.json(failure.Get("stage"))
		row.Kind = r.text(failure.Get("failure_kind"))
		if v := record.Get("http_status"); v.Exists() {
			status = v
		}
	}
	row.Status = r.json(status)
}

const possiblyDelivered = `"` + outcome.PossiblyDelivered + `"`

// record checks a structured failure.
func (r *Reader) record(v jsonscan.Value) {
	row := &r.row
	row.Flags |= Recorded
	record, faults := outcome.ReadRecord(value.Of(v))
	if faults != nil {
		row.Faults = faults
		return
	}
	row.RecordID, row.RecordRun, row.RecordClass = r.keep(record.RolloutID), r.keep(record.RunID), r.keep(record.Class())
	row.RecordAttempt = record.Attempt
	if record.Terminal {
		row.Flags |= RecordFinal
	}
}

// keep copies a text into the row.
func (r *Reader) keep(s string) []byte {
	if s == "" {
		return nil
	}
	from := len(r.row.buffer)
	r.row.buffer = append(r.row.buffer, s...)
	return r.row.buffer[from:len(r.row.buffer):len(r.row.buffer)]
}

func (r *Reader) text(v jsonscan.Value) []byte {
	from := len(r.row.buffer)
	r.row.buffer = v.AppendText(r.row.buffer)
	return r.row.buffer[from:len(r.row.buffer):len(r.row.buffer)]
}

func (r *Reader) json(v jsonscan.Value) []byte {
	if !v.Exists() {
		return nil
	}
	from := len(r.row.buffer)
	r.row.buffer = r.writer.Append(r.row.buffer, v, value.Canonical)
	return r.row.buffer[from:len(r.row.buffer):len(r.row.buffer)]
}

func runes(s string) int {
	n := 0
	for range s {
		n++
	}
	return n
}

// key gives the JSON of a value a form in which equal values are equal texts (see [value.AppendKey]). Absent is null.
func key(text []byte) string {
	if len(text) == 0 {
		return "null"
	}
	switch c := text[0]; {
	case c == '"', c == 'n':
		return string(text)
	case c-'0' < 10 || c == '-':
		if _, err := strconv.ParseInt(string(text), 10, 64); err == nil {
			return string(text)
		}
	}
	return value.Key(parsed(text))
}

// parsed is the value of a JSON text; absent if it is empty.
func parsed(text []byte) value.Value {
	if len(text) == 0 {
		return value.Value{}
	}
	v, err := value.Strict(text)
	if err != nil { // texts come from a writer
		return value.Value{}
	}
	return v
}

// echo is a saved value as findings repeat it: null if it is absent.
func echo(text []byte) value.Value { return parsed(text).OrNull() }

// Seconds is an elapsed time as documents have it.
func Seconds(f float64) value.Value {
	switch {
	case f == 0:
		return value.Null
	case math.IsInf(f, 1):
		return value.Text("inf")
	}
	return value.Float(f)
}

// parseRow reads the text of a row.
func parseRow(text []byte) (value.Value, error) {
	v, err := value.Strict(text)
	if err == nil && !v.IsObject() {
		err = ErrChanged
	}
	return v, err
}
