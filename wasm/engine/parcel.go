package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"

	"github.com/rollscope/rollscope/core/pack"
	"github.com/rollscope/rollscope/core/packed"
	"github.com/rollscope/rollscope/core/parcel"
	"github.com/rollscope/rollscope/core/redact"
	"github.com/rollscope/rollscope/core/view"
	"github.com/rollscope/rollscope/web"
	"github.com/rollscope/rollscope/web/bundle"
)

// A packer makes a bundle out of files that are fed to it. Its host packs the blocks, as browsers do that by themselves.
type packer struct {
	plan   *parcel.Plan
	files  []parcel.File
	maker  *parcel.Maker
	w      *pack.Writer
	blocks [][]byte // that the host has not taken yet

	at     int64 // plain offset of the next byte of the file that is fed
	sum    hash.Hash
	feeder *packed.Feeder // of a packed file
	failed error          // of the maker, while it was fed by the feeder
	begun  int            // file, -1 for none
	sums   map[int]string // SHA-256 of the files that were read to their end

	index  []byte
	id     string
	behind []byte // what stands behind the blocks of the document
}

var errNoParcel = errors.New("no bundle is being made")

// parcelRequest is what the host sends, a line of JSON; bytes may stand behind it.
type parcelRequest struct {
	Op string

	Files    []parcel.File
	Filtered bool
	Filter   string
	Rows     pack.Rows
	Origin   *pack.Origin
	Title    string
	Rules    string
	Made     string

	File   int
	Wanted [][2]int64
	N      int

	Style, Script, Worker string
	Libraries             []string
}

// parcel runs one step of making a bundle.
func (e *Engine) parcel(request []byte) ([]byte, error) {
	head, data, _ := bytes.Cut(request, []byte{'\n'})
	var r parcelRequest
	if err := json.Unmarshal(head, &r); err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	if r.Op == "begin" {
		e.endPacker()
		p, err := newPacker(&r)
		if err != nil {
			return nil, err
		}
		e.packer = p
		return json.Marshal(map[string]any{"learns": p.maker.Learns(), "rollouts": list(p.plan.Rollouts), "beside": list(p.plan.Beside)})
	}
	p := e.packer
	if p == nil {
		return nil, errNoParcel
	}
	switch r.Op {
	case "file":
		return []byte("{}"), p.begin(r.File, r.Wanted)
	case "end":
		return []byte("{}"), p.end()
	case "learned":
		if p.maker.Learns() {
			p.maker.Learned()
		}
		return []byte("{}"), nil
	case "block":
		if len(p.blocks) == 0 {
			return nil, nil
		}
		block := p.blocks[0]
		p.blocks = p.blocks[1:]
		return block, nil
	case "packed":
		if err := p.w.Packed(r.N, data); err != nil {
			return nil, err
		}
		return bundle.Element(r.N, data), nil
	case "finish":
		return []byte("{}"), p.maker.Finish()
	case "index":
		return p.complete()
	case "front":
		k, err := bundle.Assemble(bundle.Parts{Style: r.Style, Script: r.Script, Worker: r.Worker, Libraries: r.Libraries, Module: data})
		if err != nil {
			return nil, err
		}
		var front []byte
		front, p.behind, err = k.Around(p.index, p.id)
		return front, err
	case "behind":
		return p.behind, nil
	}
	return nil, fmt.Errorf("bundle: unknown step %q", r.Op)
}

func list(files []int) []int { return append([]int{}, files...) }

func newPacker(r *parcelRequest) (*packer, error) {
	c := &parcel.Choice{Title: r.Title, Filtered: r.Filtered, Filter: r.Filter, Rows: r.Rows, Origin: r.Origin, Made: r.Made, By: view.MadeBy()}
	if r.Rules != "" {
		var err error
		if c.Rules, err = redact.Parse(r.Rules); err != nil {
			return nil, fmt.Errorf("redaction rules: %w", err)
		}
	}
	p := &packer{files: r.Files, plan: parcel.NewPlan(r.Files, c), begun: -1, sums: map[int]string{}}
	p.w = pack.NewCutter(func(_ int, plain []byte) error {
		p.blocks = append(p.blocks, bytes.Clone(plain))
		return nil
	})
	p.maker = parcel.NewMaker(p.plan, c, p.w)
	return p, nil
}

// begin begins a file; what is fed from here on are its bytes as they lie there.
func (p *packer) begin(file int, wanted [][2]int64) error {
	if file < 0 || file >= len(p.files) {
		return errors.New("bundle: there is no such file")
	}
	rows := make([]parcel.Range, len(wanted))
	for i, w := range wanted {
		rows[i] = parcel.Range{Offset: w[0], Length: w[1]}
	}
	if err := p.maker.Begin(file, rows); err != nil {
		return err
	}
	p.begun, p.at, p.failed = file, 0, nil
	p.sum = sha256.New()
	if f := &p.files[file]; f.Rollouts && f.Packed {
		p.feeder = packed.NewFeeder(packed.Member{}, func(b []byte) int {
			if p.failed == nil {
				p.failed = p.maker.Take(p.at, b)
			}
			p.at += int64(len(b))
			return len(b)
		})
	}
	return nil
}

// feed takes the next bytes of the file. It tells whether blocks wait to be packed.
func (p *packer) feed(b []byte) (waiting bool, err error) {
	p.sum.Write(b)
	if p.feeder != nil {
		p.feeder.Feed(b)
		err = p.failed
	} else {
		err = p.maker.Take(p.at, b)
		p.at += int64(len(b))
	}
	return len(p.blocks) > 0, err
}

func (p *packer) end() error {
	if p.begun < 0 {
		return errors.New("bundle: no file was begun")
	}
	file := p.begun
	p.begun = -1
	if p.feeder != nil {
		err := p.feeder.Finish()
		p.feeder.Close()
		p.feeder = nil
		if err == nil {
			err = p.failed
		}
		if err != nil {
			return err
		}
	}
	if err := p.maker.End(); err != nil {
		return err
	}
	// What is written must be what was learned.
	sum := hex.EncodeToString(p.sum.Sum(nil))
	if learned, twice := p.sums[file]; twice && learned != sum {
		return errors.New("the file changed while it was read")
	}
	if p.sums[file] = sum; !p.maker.Learns() {
		p.maker.Source(file, p.files[file].Size, sum)
	}
	return nil
}

// complete makes the index once every block is packed, and says what the bundle is.
func (p *packer) complete() ([]byte, error) {
	if len(p.blocks) > 0 {
		return nil, errors.New("bundle: blocks wait to be packed")
	}
	x := p.maker.Index()
	x.Codec = pack.Gzip
	var err error
	if p.index, p.id, err = x.Encode(); err != nil {
		return nil, err
	}
	notes := p.maker.Notes()
	var html bytes.Buffer
	if err := web.Parcelled(view.Parcelled(x, notes)).Render(context.Background(), &html); err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"html": html.String(), "notes": len(notes), "id": p.id})
}

func (e *Engine) endPacker() {
	if e.packer != nil && e.packer.feeder != nil {
		e.packer.feeder.Close()
	}
	e.packer = nil
}
