package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rollscope/rollscope/core/source"
	"github.com/rollscope/rollscope/core/view"
	"github.com/rollscope/rollscope/web"
)

// lookUp answers what the page asks for beside its regions: parts of tables to take along, cells of the grid, offers
// for the filter, what a link holds.
func (d *desk) lookUp(r *request) ([]byte, error) {
	switch r.Op {
	case "blocks":
		return json.Marshal(map[string]any{"blocks": blocks(r.Size)})
	case "hashed":
		d.Hashed(r.File, r.Hash)
		return []byte("{}"), nil
	}
	state, _ := d.Read(r.Fragment, r.Host)
	switch r.Op {
	case "export":
		e, err := d.Export(state, r.Table, r.Form, r.From)
		if err != nil {
			return nil, err
		}
		ranges := make([][3]int64, len(e.Ranges))
		for i, n := range e.Ranges {
			ranges[i] = [3]int64{int64(n.File), n.Offset, n.Length}
		}
		return json.Marshal(map[string]any{"text": e.Text, "ranges": ranges, "next": e.Next, "total": e.Total, "done": e.Done})
	case "give":
		return d.give(state, r)
	case "grid":
		return d.Cells(state, r.From, r.To)
	case "cell":
		cell, err := d.Cell(state, r.Row, r.Column)
		if err != nil {
			return nil, err
		}
		return json.Marshal(map[string]any{"text": cell.Text, "href": cell.Href, "rollout": cell.Rollout})
	case "noted":
		list := []map[string]any{}
		for _, n := range d.Noted(state) {
			list = append(list, map[string]any{"file": n.File, "line": n.Line, "other": n.Other, "rollout": n.Rollout, "name": n.Name, "href": n.Href})
		}
		return json.Marshal(map[string]any{"list": list})
	case "offer":
		offers := d.Offer(state, r.Text, r.Cursor)
		html, err := markup(web.Offers(offers))
		if err != nil {
			return nil, err
		}
		return json.Marshal(map[string]any{"html": html, "before": offers.Before, "after": offers.After, "count": len(offers.Items)})
	}
	fragment, needs := d.Link(state)
	return json.Marshal(map[string]any{"fragment": fragment, "hash": needs})
}

// give says what a bundle of the files would hold, and what its maker must know where the page wants one.
func (d *desk) give(s view.State, r *request) ([]byte, error) {
	g := d.Giving(s, r.What == "filter", r.Text, r.Title, view.Sample{Plain: r.Size, Packed: r.Length})
	html, err := markup(web.Giving(g))
	if err != nil {
		return nil, err
	}
	answer := map[string]any{"all": g.All, "some": g.Some, "html": html, "ok": g.Problem == "", "name": g.Name, "command": g.Command}
	if r.Take && g.Problem == "" {
		wanted := map[int][][2]int64{}
		for file, rows := range g.Given.Wanted {
			for _, w := range rows {
				wanted[file] = append(wanted[file], [2]int64{w.Offset, w.Length})
			}
		}
		x := g.Given
		answer["wanted"] = wanted
		answer["begin"] = map[string]any{"files": x.Files, "filtered": x.Filtered, "filter": x.Filter, "rows": x.Rows, "origin": x.Origin, "rules": g.Rules, "title": r.Title}
	}
	return json.Marshal(answer)
}

func blocks(size int64) [][2]int64 {
	list := [][2]int64{}
	for _, b := range source.Sampled(size) {
		list = append(list, [2]int64{b.Offset, b.Length})
	}
	return list
}

// download makes a file of its own: a report, or the drawing of a chart.
func (d *desk) download(state view.State, name, theme string) ([]byte, error) {
	id, drawn := strings.CutSuffix(strings.TrimPrefix(name, web.ChartPrefix), ".svg")
	if !drawn || !strings.HasPrefix(name, web.ChartPrefix) {
		return d.Download(state, name)
	}
	chart, ok := d.Chart(state, id)
	if !ok {
		return nil, fmt.Errorf("there is no chart %q here", id)
	}
	var b bytes.Buffer
	err := web.ChartFile(chart, theme == "dark").Render(context.Background(), &b)
	return b.Bytes(), err
}
