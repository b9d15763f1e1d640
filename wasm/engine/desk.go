package engine

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/a-h/templ"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/pack"
	"github.com/rollscope/rollscope/core/runfolder"
	"github.com/rollscope/rollscope/core/search"
	"github.com/rollscope/rollscope/core/synth"
	"github.com/rollscope/rollscope/core/view"
	"github.com/rollscope/rollscope/web"
)

// A desk answers the page: it keeps what is known of the files and writes it as HTML.
type desk struct {
	view.Desk
	sent  map[string]string // region → markup, as the page has it
	fresh bool              // the list of files was begun anew

	bundle *pack.Index // that this page came with, nil for none
}

// request is what the page sends. Every operation takes the fields it knows.
type request struct {
	Op       string
	Files    []runfolder.File
	Add      bool
	Bundle   bool // the files are those of the bundle
	Fragment string
	Host     view.Host
	Windows  map[string]int
	Fresh    bool // the page has none of the regions
	Table    string
	From, To int
	Name     string
	What     string
	Form     string // of an export
	Text     string // of the filter box
	Cursor   int    // in it, in bytes
	Row      int    // of the grid of tasks
	Column   int
	File     int // index in the list of files
	Size     int64
	Offset   int64
	Length   int64
	Hash     string
	Changes  []view.Change // of files that are followed
	Notes    []view.Note
	Title    string // of a bundle
	Take     bool
}

func (d *desk) add(b []byte) ([]byte, error) {
	p, err := analysis.ParsePartial(b)
	if err != nil {
		return nil, err
	}
	if err := d.Desk.Add(p); err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"rows": d.Rows(), "complete": d.Complete()})
}

// supply takes the bytes that an answer needed: a line of JSON that says which they are, then the bytes.
func (d *desk) supply(b []byte) ([]byte, error) {
	head, data, found := bytes.Cut(b, []byte{'\n'})
	if !found {
		return nil, errors.New("supply: no head")
	}
	var r struct {
		view.Need
		Problem string
	}
	if err := json.Unmarshal(head, &r); err != nil {
		return nil, fmt.Errorf("supply: %w", err)
	}
	if r.Problem == "" && int64(len(data)) != r.Length {
		return nil, fmt.Errorf("supply: %d bytes for a need of %d", len(data), r.Length)
	}
	d.Supply(r.Need, bytes.Clone(data), r.Problem)
	return []byte("{}"), nil
}

func (d *desk) call(b []byte) (answer []byte, needs bool, err error) {
	var r request
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, false, fmt.Errorf("request: %w", err)
	}
	switch r.Op {
	case "hello":
		answer, err = json.Marshal(map[string]any{"version": view.Version, "protocol": Protocol})
	case "open":
		answer, err = d.open(&r)
	case "reset":
		*d = desk{sent: d.sent, fresh: true, bundle: d.bundle}
		answer = []byte("{}")
	case "notes":
		d.Note(r.Notes, r.Add)
		answer = []byte("{}")
	case "bundle":
		answer, err = d.readBundle(&r)
	case "sample":
		answer, err = sample()
	case "render":
		return d.render(&r)
	case "window":
		return d.window(&r)
	case "audit":
		needs, done := d.Audit()
		if len(needs) > 0 {
			return d.need(needs)
		}
		answer, err = json.Marshal(map[string]bool{"done": done})
	case "bytes":
		data, needs, err := d.Bytes(view.Need{File: r.File, Offset: r.Offset, Length: r.Length})
		if len(needs) > 0 {
			return d.need(needs)
		}
		return data, false, err
	case "grow", "still", "grown", "step", "where":
		return d.grow(&r)
	case "export", "give", "grid", "cell", "offer", "link", "blocks", "hashed", "noted":
		answer, err = d.lookUp(&r)
	case "download":
		state, _ := d.Read(r.Fragment, r.Host)
		answer, err = d.download(state, r.Name, r.What)
	case "copy":
		state, _ := d.Read(r.Fragment, r.Host)
		var text string
		text, err = d.Copy(state, r.What)
		answer = []byte(text)
	default:
		err = fmt.Errorf("unknown request %q", r.Op)
	}
	return answer, false, err
}

func (d *desk) open(r *request) ([]byte, error) {
	type scan struct {
		Source int   `json:"source"`
		File   int   `json:"file"`
		Size   int64 `json:"size"`
		Packed bool  `json:"packed"`
	}
	d.fresh = !r.Add
	list := []scan{}
	tasks := d.Open(r.Files, r.Add)
	if r.Bundle {
		d.Describe(d.bundle)
	} else if !r.Add {
		d.Describe(nil)
	}
	for _, t := range tasks {
		list = append(list, scan(t))
	}
	return json.Marshal(map[string]any{"scan": list})
}

func sample() ([]byte, error) {
	type file struct {
		Path string `json:"path"`
		Data string `json:"data"`
	}
	list := []file{}
	for _, f := range synth.Sample() {
		list = append(list, file{"sample run/" + f.Name, base64.StdEncoding.EncodeToString(f.Data)})
	}
	return json.Marshal(map[string]any{"files": list})
}

// need is the answer that asks for bytes first.
func (d *desk) need(needs []view.Need) ([]byte, bool, error) {
	type bytesOf struct {
		File   int   `json:"file"`
		Offset int64 `json:"offset"`
		Length int64 `json:"length"`
		Packed bool  `json:"packed"`
	}
	list := make([]bytesOf, len(needs))
	for i, n := range needs {
		_, packed := d.Packed(n)
		list[i] = bytesOf{n.File, n.Offset, n.Length, packed}
	}
	b, err := json.Marshal(map[string]any{"need": list})
	return b, true, err
}

func (d *desk) render(r *request) ([]byte, bool, error) {
	state, odd := d.Read(r.Fragment, r.Host)
	page, needs := d.Page(state, r.Host, r.Windows)
	if len(needs) > 0 {
		return d.need(needs)
	}
	if d.sent == nil || r.Fresh {
		d.sent = map[string]string{}
	}
	regions := map[string]string{}
	for _, region := range web.Regions(*page) {
		html, err := markup(region.Component)
		if err != nil {
			return nil, false, err
		}
		if d.sent[region.Name] != html {
			regions[region.Name], d.sent[region.Name] = html, html
		}
	}
	b, err := json.Marshal(map[string]any{
		"fragment": state.Encode(), "phase": page.Phase, "title": page.Title, "theme": page.Theme,
		"waiting": page.Missing != nil, "target": page.Target, "regions": regions,
		"odd": strings.Join(odd, ", "), "hash": d.Unhashed(state), "query": d.query(state, r.Host), "audit": !r.Host.Reading && d.AuditPending(),
	})
	return b, false, err
}

// query is the second scan that the page must run for the filter, the tab or the search of a State, null if none.
func (d *desk) query(s view.State, h view.Host) any {
	type query struct {
		ID     string          `json:"id"`
		Filter string          `json:"filter"`
		Probe  string          `json:"probe"`
		Search *search.Options `json:"search,omitempty"`
		Scan   []askTask       `json:"scan"`
	}
	if h.Reading {
		return nil
	}
	a := d.Asking(s)
	if a == nil {
		return nil
	}
	return query{ID: a.ID, Filter: a.Filter, Probe: a.Probe, Search: a.Search, Scan: askTasks(a.Tasks)}
}

func (d *desk) window(r *request) ([]byte, bool, error) {
	state, _ := d.Read(r.Fragment, r.Host)
	switch r.Table {
	case "transcript":
		return d.chunk(state, r.From)
	case "raw":
		return d.rawWindow(state, r.From, r.To)
	case "timeline":
		spans, needs, err := d.Spans(state)
		if err != nil {
			return nil, false, err
		}
		if len(needs) > 0 {
			return d.need(needs)
		}
		b, err := json.Marshal(spans)
		return b, false, err
	}
	table, needs, err := d.Window(state, r.Table, r.From, r.To)
	if err != nil {
		return nil, false, err
	}
	if len(needs) > 0 {
		return d.need(needs)
	}
	html, err := markup(web.WindowRows(table))
	if err != nil {
		return nil, false, err
	}
	return d.part(html, table.From, table.Total)
}

// part answers with a piece of the page. The page's copy of the region that holds it is no longer what was
// sent.
func (d *desk) part(html string, from, total int) ([]byte, bool, error) {
	delete(d.sent, "main")
	b, err := json.Marshal(map[string]any{"html": html, "from": from, "total": total})
	return b, false, err
}

func (d *desk) chunk(state view.State, n int) ([]byte, bool, error) {
	blocks, turn, needs, err := d.Chunk(state, n)
	if err != nil {
		return nil, false, err
	}
	if len(needs) > 0 {
		return d.need(needs)
	}
	html, err := markup(web.Blocks(blocks, turn))
	if err != nil {
		return nil, false, err
	}
	return d.part(html, n, len(blocks))
}

func (d *desk) rawWindow(state view.State, from, to int) ([]byte, bool, error) {
	raw, needs, err := d.RawWindow(state, from, to)
	if err != nil {
		return nil, false, err
	}
	if len(needs) > 0 {
		return d.need(needs)
	}
	html, err := markup(web.WindowLines(raw))
	if err != nil {
		return nil, false, err
	}
	return d.part(html, raw.From, raw.Total)
}

func markup(c templ.Component) (string, error) {
	var b bytes.Buffer
	err := c.Render(context.Background(), &b)
	return b.String(), err
}
