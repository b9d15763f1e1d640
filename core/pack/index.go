package pack

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// Format and a version begin every index. Version 2 names its codec; it is written only where version 1 does not do, so
// that older readers read what they can and refuse the rest.
const (
	Format  = "rollscope-bundle"
	Version = 2
)

// Bounds that a reader insists on, so that an index made by somebody else cannot make it run out of memory.
const (
	MaxBlock  = 64 << 20 // plain bytes of a block
	MaxPacked = 80 << 20 // bytes of a block as it is stored
	maxFiles  = 1 << 20
	maxBlocks = 1 << 20
)

// An Index says what is in a bundle.
type Index struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Made    string `json:"made"` // RFC 3339 in UTC
	By      string `json:"by"`   // program and version
	Title   string `json:"title,omitempty"`
	Codec   Codec  `json:"codec,omitempty"` // of the blocks

	Sources []Source `json:"sources,omitempty"` // what it was made from; nothing where something was redacted
	Rows    Rows     `json:"rows"`
	Filter  string   `json:"filter,omitempty"`
	Left    []Left   `json:"left_out"` // files

	Redaction *Redaction `json:"redaction,omitempty"`
	Origin    *Origin    `json:"origin,omitempty"` // the bundle that it was made of

	Files  []File  `json:"files"`
	Blocks []Block `json:"blocks"`

	id     string
	opener Opener
}

// A Source is a file that a bundle was made from.
type Source struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Rows counts lines of the rollouts files that are not blank.
type Rows struct {
	Of         int64 `json:"of"`
	Kept       int64 `json:"kept"`
	Unreadable int64 `json:"unreadable_left_out,omitempty"` // could not be redacted
}

// A Left is a file that is not in the bundle.
type Left struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// An Origin is a bundle whose files were handed on in another one.
type Origin struct {
	ID       string `json:"id,omitempty"` // nothing where something was redacted
	Made     string `json:"made"`
	Rows     Rows   `json:"rows"`
	Filter   string `json:"filter,omitempty"`
	Left     int    `json:"left_out"` // number of files
	Redacted bool   `json:"redacted"`
}

// A Redaction tells what was taken out of the rows.
type Redaction struct {
	Rules  []RuleCount `json:"rules"`
	Kept   int64       `json:"values_kept"`
	Copies int64       `json:"texts_with_masked_copies"`
}

// A RuleCount is a rule with what it did.
type RuleCount struct {
	Action string `json:"action"`
	Path   string `json:"path"`
	Values int64  `json:"values"`
	Texts  int64  `json:"texts"`
}

// A File is a stretch of the content.
type File struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
	At   int64  `json:"at"` // of its first byte
}

// A Block is a stretch of the content as it is stored.
type Block struct {
	Size   int64  `json:"size"`   // plain
	Packed int64  `json:"packed"` // bytes
	SHA256 string `json:"sha256"` // of the packed bytes
	at     int64
}

// Encode writes the index and gives its id.
func (x *Index) Encode() (text []byte, id string, err error) {
	x.Format, x.Version = Format, 1
	if x.Codec != Zstd {
		x.Version = Version
	}
	for n, b := range x.Blocks {
		if b.Packed == 0 {
			return nil, "", fmt.Errorf("block %d was not packed", n+1)
		}
	}
	if x.Left == nil {
		x.Left = []Left{}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(true) // it may stand inside a script element
	e.SetIndent("", " ")
	if err := e.Encode(x); err != nil {
		return nil, "", err
	}
	return b.Bytes(), ID(b.Bytes()), nil
}

// ID is what an index is known by.
func ID(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// ErrOther means that an index is not the one that was asked for: it was changed, or belongs to another version of
// the bundle.
var ErrOther = errors.New("the index is not the one this bundle was made with: it was changed, or files of two versions of a bundle are mixed")

// Parse reads an index and holds it against its id; "" takes any.
func Parse(text []byte, id string) (*Index, error) {
	x := &Index{id: ID(text)}
	if err := json.Unmarshal(text, x); err != nil {
		return nil, fmt.Errorf("the index of the bundle cannot be read: %w", err)
	}
	if id != "" && x.id != id {
		if made := x.Made; made != "" && len(made) < 40 {
			return nil, fmt.Errorf("%w (it says that it was made %s)", ErrOther, made)
		}
		return nil, ErrOther
	}
	if x.Format != Format {
		return nil, errors.New("this is no index of a bundle")
	}
	if x.Version < 1 || x.Version > Version {
		return nil, fmt.Errorf("the bundle has version %d of the format, this program reads versions 1 to %d", x.Version, Version)
	}
	if x.Codec != Zstd && (x.Version < 2 || x.Codec != Gzip) {
		return nil, fmt.Errorf("the blocks of the bundle are packed with %.20q, which this program does not unpack", string(x.Codec))
	}
	if err := x.check(); err != nil {
		return nil, fmt.Errorf("the index of the bundle does not hold: %w", err)
	}
	return x, nil
}

// check holds the sums of an index.
func (x *Index) check() error {
	if len(x.Files) > maxFiles || len(x.Blocks) > maxBlocks {
		return errors.New("it has too many entries")
	}
	blocks := int64(0)
	for i := range x.Blocks {
		b := &x.Blocks[i]
		if b.Size < 1 || b.Size > MaxBlock || b.Packed < 1 || b.Packed > MaxPacked || len(b.SHA256) != 2*sha256.Size {
			return fmt.Errorf("block %d has no possible size", i+1)
		}
		b.at = blocks
		blocks += b.Size
	}
	if r := &x.Rows; r.Kept < 0 || r.Unreadable < 0 || r.Kept > r.Of {
		return fmt.Errorf("it has %d of %d rows", r.Kept, r.Of)
	}
	files := int64(0)
	known := make(map[string]bool, len(x.Files))
	for i, f := range x.Files {
		if known[f.Path] {
			return fmt.Errorf("file %d has the path of another one", i+1)
		}
		known[f.Path] = true
		if f.Path == "" || f.Size < 0 || f.At != files || f.Size > blocks-files {
			return fmt.Errorf("file %d does not stand where it should", i+1)
		}
		files += f.Size
	}
	if files != blocks {
		return fmt.Errorf("the files have %d bytes and the blocks %d", files, blocks)
	}
	return nil
}

// ID is what the index is known by.
func (x *Index) ID() string { return x.id }

// Name is the name of a block's file in a folder.
func (c Codec) Name(n int) string { return fmt.Sprintf("%05d%s", n+1, c.ending()) }

// IndexName is the name of the index in a folder.
const IndexName = "index.json"

// Folder is the name of the folder of a bundle inside of one that may hold several.
func Folder(id string) string { return "data/" + id[:min(len(id), 16)] }

// Span finds the blocks that hold a stretch of the content, from one to another behind the last.
func (x *Index) Span(at, length int64) (from, to int) {
	if length <= 0 {
		return 0, 0
	}
	from = sort.Search(len(x.Blocks), func(i int) bool { return x.Blocks[i].at+x.Blocks[i].Size > at })
	to = sort.Search(len(x.Blocks), func(i int) bool { return x.Blocks[i].at >= at+length })
	return from, to
}

// At is where a block begins in the content.
func (x *Index) At(n int) int64 { return x.Blocks[n].at }

// shown is a path for messages, on one line.
func shown(path string) string {
	if quoted := strconv.Quote(path); len(quoted) != len(path)+2 {
		return quoted
	}
	return path
}

// Place tells which bytes of which files a block holds.
func (x *Index) Place(n int) string {
	b := &x.Blocks[n]
	first := sort.Search(len(x.Files), func(i int) bool { return x.Files[i].At+x.Files[i].Size > b.at })
	var places []string
	for i := first; i < len(x.Files) && x.Files[i].At < b.at+b.Size; i++ {
		f := &x.Files[i]
		if f.Size == 0 {
			continue
		}
		if len(places) == 3 {
			places = append(places, "…")
			break
		}
		places = append(places, fmt.Sprintf("bytes %d to %d of %s", max(b.at-f.At, 0), min(b.at+b.Size-f.At, f.Size), shown(f.Path)))
	}
	return fmt.Sprintf("block %d of %d (%s)", n+1, len(x.Blocks), strings.Join(places, ", "))
}
