package atif

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/value"
)

// ManifestFile is the name of the list of exported files.
const ManifestFile = "manifest.jsonl"

// A File is an exported document.
type File struct {
	Name   string
	Source Source
	Text   []byte
	Digest string // SHA-256, hexadecimal
}

// An Export gathers the documents of a file of rollouts. Nothing of it may be published unless Finish gives no error
// (spec atif §5.1).
type Export struct {
	exporter Exporter
	line     int
	agent    string
	named    bool
	seen     map[string]bool
	manifest []byte
	errs     []error
}

// NewExport begins an export. Session and version of the agent must not be blank.
func NewExport(o Options) (*Export, error) {
	switch {
	case blank(o.Session):
		return nil, errors.New("the session id is blank")
	case blank(o.AgentVersion):
		return nil, errors.New("the version of the agent is blank")
	}
	return &Export{exporter: Exporter{Options: o}, seen: map[string]bool{}}, nil
}

// Line takes the next physical line and gives its file, nil for a row that cannot be exported. A blank line is one.
func (e *Export) Line(text []byte) *File {
	e.line++
	doc, from, err := e.row(text)
	if err != nil {
		e.errs = append(e.errs, fmt.Errorf("line %d: %w", e.line, err))
		return nil
	}
	f := &File{Name: from.FileName(), Source: from, Text: Text(doc)}
	sum := sha256.Sum256(f.Text)
	f.Digest = hex.EncodeToString(sum[:])
	entry := value.Object(
		value.M("_ng_rollout_index", value.Whole(from.Rollout)), value.M("_ng_task_index", value.Whole(from.Task)),
		value.M("expected_sha256", value.Text(f.Digest)), value.M("trajectory_path", value.Text(f.Name)))
	e.manifest = append(entry.Append(e.manifest, value.Row), '\n')
	return f
}

func (e *Export) row(text []byte) (doc value.Value, from Source, err error) {
	if jsonl.Blank(text) {
		return doc, from, blocked("the line is blank")
	}
	row, err := readRow(text)
	if err != nil {
		return doc, from, err
	}
	if from, err = sourceOfRow(row); err != nil {
		return doc, from, err
	}
	name := from.FileName()
	if e.seen[name] {
		return doc, from, blocked("the file has this rollout already")
	}
	e.seen[name] = true
	switch {
	case !from.named:
	case !e.named:
		e.agent, e.named = from.Agent, true
	case e.agent != from.Agent:
		return doc, from, blocked("the agent is %s, that of the file is %s", from.Agent, e.agent)
	}
	doc, err = e.exporter.convert(text, row, from)
	return doc, from, err
}

// Finish gives the manifest, or all errors.
func (e *Export) Finish() (manifest []byte, err error) {
	if e.line == 0 {
		return nil, blocked("the file has no rows")
	}
	return e.manifest, errors.Join(e.errs...)
}

// Errors are what keeps rows from being exported, so far.
func (e *Export) Errors() []error { return e.errs }

// An Entry is a line of a manifest.
type Entry struct {
	Line          int
	Path          string // as it stands there
	Task, Rollout integer.Int
	Digest        string // "" for none
}

// ParseEntry reads a line of a manifest.
func ParseEntry(text []byte, line int) (e Entry, err error) {
	v, err := Strict(text)
	if err != nil {
		return e, err
	}
	if !v.IsObject() {
		return e, errors.New("is no object")
	}
	e.Line = line
	var ok bool
	if e.Path, ok = v.Get("trajectory_path").Text(); !ok || blank(e.Path) {
		return e, errors.New("trajectory_path is missing")
	}
	for _, f := range [...]struct {
		name string
		to   *integer.Int
	}{{"_ng_task_index", &e.Task}, {"_ng_rollout_index", &e.Rollout}} {
		n, ok := v.Get(f.name).Whole()
		if !ok || n.Sign() < 0 {
			return e, fmt.Errorf("%s is not a whole number from 0 on", f.name)
		}
		*f.to = n
	}
	if d := v.Get("expected_sha256"); !d.IsNull() {
		if e.Digest, ok = d.Text(); !ok || len(e.Digest) != 64 || strings.Trim(e.Digest, "0123456789abcdef") != "" {
			return e, errors.New("expected_sha256 is not 64 lower-case hexadecimal digits")
		}
	}
	for _, m := range v.Members() {
		switch m.Key {
		case "trajectory_path", "_ng_task_index", "_ng_rollout_index", "expected_sha256":
		default:
			return e, fmt.Errorf("the key %s is not known", m.Key)
		}
	}
	return e, nil
}

// File is the path of the entry's file. Relative paths are relative to the manifest.
func (e *Entry) File(manifest string) string {
	if path.IsAbs(e.Path) {
		return path.Clean(e.Path)
	}
	return path.Join(path.Dir(manifest), e.Path)
}

// Key names the rollout of an entry.
func (e *Entry) Key() string { return e.Task.String() + "-" + e.Rollout.String() }
