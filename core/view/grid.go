package view

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/records"
)

// A GridHead lays out the column of a table whose cells are drawn: one place for every repeat.
type GridHead struct {
	Columns int
	Cell    int // width of a place in CSS pixels
	Labels  []string
}

// Widths of the places of a grid, the widest first; a grid takes the first that lets it stay below gridRoom.
var gridCells = [...]int{38, 24, 14, 6, 3}

const (
	gridRoom   = 640
	gridMost   = 400 // places; what is beyond is in the counts beside it
	gridMargin = 8
)

func gridHead(r repeatLayout) *GridHead {
	h := &GridHead{Columns: min(r.columns, gridMost), Labels: []string{}}
	for _, h.Cell = range gridCells {
		if h.Cell*h.Columns <= gridRoom {
			break
		}
	}
	for i := range h.Columns {
		label := i
		if !r.byIndex {
			label++
		}
		h.Labels = append(h.Labels, strconv.Itoa(label))
	}
	return h
}

// The bits of a cell of [Desk.Cells].
const (
	CellVerdict   = 0x07 // 0 nothing, 1 healthy, 2 unhealthy, 3 unobserved; without a row that decides 4 failed, 5 omitted, 6 unknown, 7 a result that stands elsewhere
	CellReward    = 0x18 // 0x00 no number, 0x08 zero, 0x10 one, 0x18 another, whose value follows behind all cells
	CellMasked    = 0x20
	CellRepeated  = 0x40 // several rows claim the place; the first is shown
	CellUnfitting = 0x80 // the row does not fit the filter
)

var errGrid = errors.New("there is no grid of these rows")

// Cells gives the cells of the grid of tasks between two rows of the table, to be drawn: four little-endian words of
// 32 bits (first row, rows, columns, all rows), one byte a cell, row by row, and then a float32 for every cell whose
// reward is neither 0 nor 1, in the same order.
func (d *Desk) Cells(s State, from, to int) ([]byte, error) {
	if d.Empty() {
		return nil, errGrid
	}
	c := d.choose(s)
	list, g := d.listed(c, s), c.groups()
	from = max(0, min(from, len(list.lines)))
	to = min(max(to, from), len(list.lines), from+mostGridRows)
	columns := min(g.repeats.columns, gridMost)
	b := make([]byte, 0, 16+(to-from)*columns)
	for _, n := range [...]int{from, to - from, columns, len(list.lines)} {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	var rest []byte
	cells := make([]gridCell, columns)
	for _, line := range list.lines[from:to] {
		c.cells(cells, line.task)
		for _, cell := range cells {
			flags, reward := c.cellFlags(list, cell)
			b = append(b, flags)
			if flags&CellReward == CellReward {
				rest = binary.LittleEndian.AppendUint32(rest, math.Float32bits(float32(reward)))
			}
		}
	}
	return append(b, rest...), nil
}

// mostGridRows bounds one answer.
const mostGridRows = 4096

func (c *selection) cellFlags(list *taskList, cell gridCell) (flags byte, reward float64) {
	if fate := c.fateIn(cell); fate >= fateFailed {
		flags = byte(fate-fateFailed) + 4
		if cell.number >= 0 && !list.hasGap(cell.number) || cell.number < 0 && !list.has(cell.ordinal) {
			flags |= CellUnfitting
		}
		return flags, 0
	}
	if cell.number >= 0 {
		if flags = 7; !list.hasGap(cell.number) {
			flags |= CellUnfitting
		}
		return flags, 0
	}
	if cell.ordinal < 0 {
		return 0, 0
	}
	columns := &c.tally.series
	switch c.verdictOf(int(cell.ordinal)) {
	case health.Healthy:
		flags = 1
	case health.Unhealthy:
		flags = 2
	default:
		flags = 3
	}
	reward = columns.reward[cell.ordinal]
	switch {
	case math.IsNaN(reward):
	case reward == 0:
		flags |= 0x08
	case reward == 1:
		flags |= 0x10
	default:
		flags |= CellReward
	}
	if columns.masked[cell.ordinal] {
		flags |= CellMasked
	}
	if cell.rows > 1 {
		flags |= CellRepeated
	}
	if !list.has(cell.ordinal) {
		flags |= CellUnfitting
	}
	return flags, reward
}

// A CellView is what is told of a cell of the grid.
type CellView struct {
	Text    string
	Href    string // to its rollout; "" where there is none
	Rollout string
}

// Cell tells what stands in one cell of the grid of tasks.
func (d *Desk) Cell(s State, row, column int) (CellView, error) {
	if d.Empty() {
		return CellView{}, errGrid
	}
	c := d.choose(s)
	list, g := d.listed(c, s), c.groups()
	if row < 0 || row >= len(list.lines) || column < 0 || column >= min(g.repeats.columns, gridMost) {
		return CellView{}, errGrid
	}
	line := &list.lines[row]
	cells := make([]gridCell, min(g.repeats.columns, gridMost))
	c.cells(cells, line.task)
	task := "task " + keyCell(g.keys[line.task]).Text.Text
	if i, ok := c.item(int(line.first)); ok && i.digest.Facts.Name != "" {
		task += " " + i.digest.Facts.Name
	}
	cell := cells[column]
	i, ok := c.item(int(cell.ordinal))
	if !ok && cell.number >= 0 {
		return d.gapView(c, s, list, task, gridHead(g.repeats).Labels[column], int(cell.number)), nil
	}
	if !ok {
		return CellView{Text: fmt.Sprintf("%s, repeat %s: no row", task, gridHead(g.repeats).Labels[column])}, nil
	}
	parts := []string{i.verdict().String()}
	switch reward := numberCell(i.digest.Facts.Reward, ""); {
	case i.digest.Facts.Reward == "":
		parts = append(parts, "no reward")
	default:
		parts = append(parts, "reward "+reward.Text.Text)
	}
	if i.digest.Facts.Masked {
		parts = append(parts, "masked")
	}
	if fate := c.fateIn(cell); fate >= fateFailed {
		parts = append([]string{fateInfos[fate].word + " at a later attempt; this row"}, parts...)
	}
	if cell.rows > 1 {
		parts = append(parts, count(cell.rows, "row", "rows")+" with this place, the first is shown")
	}
	if !list.has(cell.ordinal) {
		parts = append(parts, "outside of the filter")
	}
	if hint := c.noteHint(int(cell.ordinal)); hint != "" {
		parts = append(parts, "note: "+hint)
	}
	for n, f := range i.list() {
		if n == 3 {
			parts = append(parts, "+"+strconv.Itoa(len(i.list())-n))
			break
		}
		parts = append(parts, f.Check)
	}
	return CellView{
		Text: fmt.Sprintf("%s, repeat %s: %s", task, keyCell(i.digest.Identity.Rollout).Text.Text, strings.Join(parts, ", ")),
		Href: d.toRow(s, c, int(cell.ordinal)), Rollout: i.place(),
	}, nil
}

// gapView tells what became of an expected rollout without a row.
func (d *Desk) gapView(c *selection, s State, list *taskList, task, label string, number int) CellView {
	w := c.fated.open(c, number)
	parts := []string{fateInfos[c.fated.wants[number].fate].word}
	if w.has && w.speaks.Class != "" {
		parts = append(parts, records.ClassName(w.speaks.Class))
	}
	if state := c.fated.states[number]; state != "" {
		parts = append(parts, stateCell(d, s, w).Text.Text)
	}
	parts = append(parts, count(w.e.Outcomes, "record", "records"))
	if w.speaks.Reason != "" {
		parts = append(parts, clipped(w.speaks.Reason, 120))
	}
	if !list.hasGap(int32(number)) {
		parts = append(parts, "outside of the filter")
	}
	href := ""
	if w.has {
		href = d.toLine(s.ToTab("coverage"), c, w.run.Place.Path(w.speaks.File), w.speaks.Line, w.speaks.Offset)
	}
	return CellView{Text: fmt.Sprintf("%s, repeat %s: %s", task, label, strings.Join(parts, ", ")), Href: href}
}

// cellsCell says in words what the grid draws, for those who do not see it and for copies.
func cellsCell(r *taskRow) Cell {
	g := r.c.groups()
	cells := make([]gridCell, min(g.repeats.columns, gridMost))
	r.c.cells(cells, r.line.task)
	head := gridHead(g.repeats)
	var parts []string
	for n, cell := range cells {
		if fate := r.c.fateIn(cell); fate >= fateFailed || cell.number >= 0 {
			parts = append(parts, head.Labels[n]+" "+fateInfos[fate].word)
			continue
		}
		if cell.ordinal < 0 {
			continue
		}
		part := head.Labels[n] + " " + r.c.verdictOf(int(cell.ordinal)).String()
		if reward := r.c.tally.series.reward[cell.ordinal]; !math.IsNaN(reward) {
			part += " " + strconv.FormatFloat(reward, 'g', -1, 64)
		}
		if r.c.tally.series.masked[cell.ordinal] {
			part += " masked"
		}
		if cell.rows > 1 {
			part += " ×" + strconv.Itoa(cell.rows)
		}
		parts = append(parts, part)
	}
	return Cell{Text: Text{Text: strings.Join(parts, ", ")}}
}
