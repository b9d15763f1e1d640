package harness

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/jsontext"
	"github.com/rollscope/rollscope/core/value"
)

// The names of the files of a report and of a matrix.
const (
	ResultsFile    = "evidence_results.jsonl"
	SummaryFile    = "evidence_summary.json"
	ReportFile     = "evidence_report.md"
	MatrixFile     = "harness_evidence.json"
	MatrixPageFile = "harness_evidence.md"
)

func sourceLine(source string, line int64) string { return source + ":" + strconv.FormatInt(line, 10) }

// AppendJSON appends the record as results files have it, on one line and without a line end.
func (r *Record) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"source":`...)
	dst = jsontext.AppendQuoted(dst, r.Source)
	dst = append(dst, `,"checks":[`...)
	for i := range r.Checks {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = r.Checks[i].AppendJSON(dst)
	}
	dst = append(dst, `],"evidence":{`...)
	for i, v := range r.Evidence {
		if i > 0 {
			dst = append(dst, ',')
		}
		c := Capability(i + 1)
		dst = jsontext.AppendQuoted(dst, c.Label())
		dst = append(dst, `:{"name":`...)
		dst = jsontext.AppendQuoted(dst, c.String())
		dst = append(dst, `,"verdict":`...)
		dst = jsontext.AppendQuoted(dst, v.String())
		dst = append(dst, `,"basis":"`+Basis+`"}`...)
	}
	dst = append(dst, `},"verdict":`...)
	dst = jsontext.AppendQuoted(dst, r.Verdict.String())
	dst = append(dst, `,"token_availability":`...)
	dst = r.Tokens.document().Append(dst, value.Plain)
	dst = append(dst, `,"is_behavioral_qualification":false,"scope_closure":"`+Closure+`","findings":[`...)
	for i, f := range r.Findings() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"evidence":`...)
		dst = jsontext.AppendQuoted(dst, f.Evidence.Label())
		dst = append(dst, `,"assertion":`...)
		dst = jsontext.AppendQuoted(dst, f.Assertion)
		dst = append(dst, `,"location":`...)
		dst = jsontext.AppendQuoted(dst, f.Location)
		dst = append(dst, `,"reason":`...)
		dst = jsontext.AppendQuoted(dst, f.Reason)
		dst = append(dst, '}')
	}
	return append(dst, "]}"...)
}

// AppendJSON appends the row as results files have it.
func (r *Row) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"id":`...)
	dst = jsontext.AppendQuoted(dst, r.ID)
	dst = append(dst, `,"kind":`...)
	dst = jsontext.AppendQuoted(dst, r.Kind.String())
	dst = append(dst, `,"status":`...)
	dst = jsontext.AppendQuoted(dst, r.Status.String())
	dst = append(dst, `,"tier":`...)
	dst = jsontext.AppendQuoted(dst, r.Tier.String())
	dst = appendTexts(append(dst, `,"evidence":`...), r.Evidence.Labels())
	dst = appendTexts(append(dst, `,"locations":`...), r.Locations)
	dst = appendTexts(append(dst, `,"reasons":`...), r.Reasons)
	dst = appendTexts(append(dst, `,"blocked_by":`...), r.BlockedBy)
	return append(dst, '}')
}

func appendTexts(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsontext.AppendQuoted(dst, s)
	}
	return append(dst, ']')
}

func (t *Tokens) document() value.Value {
	fields := make([]value.Member, len(t))
	for i, a := range t {
		fields[i] = value.M(tokenKeys[i].String(), value.Object(value.M("available", value.Int(a.Available)), value.M("calls", value.Int(a.Calls))))
	}
	return value.Object(fields...)
}

// WriteResults writes the records, one a line.
func (r *Report) WriteResults(w io.Writer) error {
	return r.writeRecords(w, "", "\n", "\n")
}

func (r *Report) writeRecords(w io.Writer, before, between, behind string) error {
	out := bufio.NewWriterSize(w, 64<<10)
	out.WriteString(before)
	var line []byte
	for i := range r.rows {
		if i > 0 {
			out.WriteString(between)
		}
		record := r.Record(i)
		line = record.AppendJSON(line[:0])
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	out.WriteString(behind)
	return out.Flush()
}

// An Input is a file that a report was made from.
type Input struct {
	Name   string // as it was given
	SHA256 string // of its bytes, in lower-case hexadecimal
}

// ErrNames means that two inputs cannot be told apart by their names.
var ErrNames = errors.New("two inputs have the same name")

// sources is the document of the inputs: base names with digests, so that it is the same wherever the files lie.
func sources(inputs []Input) (value.Value, error) {
	digests := map[string]string{}
	var names []string
	for _, in := range inputs {
		name := Base(in.Name)
		if known, ok := digests[name]; !ok {
			names = append(names, name)
		} else if known != in.SHA256 {
			return value.Value{}, fmt.Errorf("%s: %w", name, ErrNames)
		}
		digests[name] = in.SHA256
	}
	slices.Sort(names)
	members := make([]value.Member, len(names))
	for i, name := range names {
		members[i] = value.M(name, value.Text(digests[name]))
	}
	return value.Object(members...), nil
}

func (s Scope) document() value.Value {
	return value.Object(
		value.M("tools", value.Bool(!s.NoTools)), value.M("verifier", value.Bool(!s.NoVerifier)), value.M("steps", value.Bool(!s.NoSteps)),
		value.M("require_sandbox", value.Bool(s.RequireSandbox)),
	)
}

// documentText is how documents are written: keys sorted, two spaces of indentation, ASCII, a line end.
func documentText(v value.Value) []byte { return append(v.Sorted().AppendIndented(nil, true), '\n') }

func documentID(v value.Value) string {
	sum := sha256.Sum256(documentText(v))
	return hex.EncodeToString(sum[:])
}

// A Summary says what a report comes to. The same bytes in the same scope give the same id, wherever they were judged.
type Summary struct {
	ID       string
	Document value.Value // without the id
	report   *Report
}

// Summary puts the report together with the digests of its inputs. The error wraps [ErrNames].
func (r *Report) Summary(inputs []Input) (*Summary, error) {
	from, err := sources(inputs)
	if err != nil {
		return nil, err
	}
	scope := r.scope.document()
	s := &Summary{report: r, ID: documentID(value.Object(
		value.M("sources", from), value.M("checker_sha256", value.Text(Checker)), value.M("profile", value.Text(Profile)), value.M("applicability", scope),
	))}
	evidence := make([]value.Member, 0, capabilities)
	for _, c := range AllCapabilities() {
		n := r.tally.Capabilities[c-1]
		evidence = append(evidence, value.M(c.Label(), value.Object(
			value.M("records", value.Int(n.Records)), value.M("fulfilled", value.Int(n.Fulfilled)), value.M("not_fulfilled", value.Int(n.NotFulfilled)),
			value.M("not_applicable", value.Int(n.NotApplicable)), value.M("verdict", value.Text(n.Verdict().String())),
			value.M("scenario_coverage", value.Object(value.M("observed", value.Int(0)), value.M("passed", value.Int(0)))),
		)))
	}
	s.Document = value.Object(
		value.M("schema_version", value.Text(SummarySchema)),
		value.M("checker_version", value.Text(Checker)),
		value.M("decoder_version", value.Text(Decoder)),
		value.M("checker_status", value.Text("completed")),
		value.M("profile", value.Text(Profile)),
		value.M("scope", value.Text(scopeText)),
		value.M("scope_closure", value.Text(Closure)),
		value.M("verdict", value.Text(r.Verdict().String())),
		value.M("is_behavioral_qualification", value.Bool(false)),
		value.M("records", value.Int(int64(r.Records()))),
		value.M("evidence", value.Object(evidence...)),
		value.M("token_availability", r.tally.Tokens.document()),
		value.M("delivery_surface", value.Text(Surface)),
		value.M("limits", value.Texts(limits)),
		value.M("sources", from),
		value.M("checker_sha256", value.Text(Checker)),
		value.M("applicability", scope),
	)
	return s, nil
}

const scopeText = "What the saved rows themselves show, under the declared applicability; nothing outside of them was looked at."

var limits = []string{
	"A fulfilled verdict says that the evidence is complete. It says nothing about how the agent or the harness behaves.",
	"Only the designated places are read; copies elsewhere neither help nor harm.",
	"Token counts are checked for their form, not against what the provider reported.",
	"Applicability was declared, not observed.",
}

// Report is what the summary was made of.
func (s *Summary) Report() *Report { return s.report }

// Text is the summary file.
func (s *Summary) Text() []byte { return documentText(s.Document) }

// full is the document with the id of the report.
func (s *Summary) full() value.Value {
	members := append([]value.Member{value.M("report_id", value.Text(s.ID))}, s.Document.Members()...)
	return value.Object(members...)
}

// WriteJSON writes records and summary as one document on one line.
func (s *Summary) WriteJSON(w io.Writer) error {
	behind := s.full().Append([]byte(`],"summary":`), value.Plain)
	return s.report.writeRecords(w, `{"records":[`, ",", string(behind)+"}\n")
}

// Page is the report file, in Markdown.
func (s *Summary) Page() string {
	var b strings.Builder
	t := s.report.Tally()
	fmt.Fprintf(&b, "# Retained evidence\n\nProfile `%s`, gate %s, %d records.\n\n", Profile, s.report.Verdict(), s.report.Records())
	b.WriteString("| Evidence | Artifact verdict | Passing/applicable records |\n|---|---|---|\n")
	for _, c := range AllCapabilities() {
		n := t.Capabilities[c-1]
		fmt.Fprintf(&b, "| %s `%s` | %s | %d/%d |\n", c.Label(), c, n.Verdict(), n.Fulfilled, n.Records-n.NotApplicable)
	}
	fmt.Fprintf(&b, "\nWhere each record fails is in `%s`. Complete evidence says nothing about behaviour.\n", ResultsFile)
	return b.String()
}
