package view

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/jsontext"
	"github.com/rollscope/rollscope/core/search"
)

// A HitBar is the search in all transcripts on the page of a rollout.
type HitBar struct {
	Text       string
	Found      string // "3 of 12"
	Error      string // why the pattern cannot be looked for
	Prev, Next string // links to the hits around
	All        Link   // to the view of all hits
	Clear      string // link without the search
	Count      int
}

// mostRowHits is how many hits of one rollout are gone through and marked.
const mostRowHits = 100_000

// mostHitMarks is how many places are marked in one text.
const mostHitMarks = 1000

// rowHits are the hits of a search in the open row, in the order of the conversation.
type rowHits struct {
	options search.Options
	search  *search.Search
	err     error
	list    []rowHit
	more    bool    // there are others behind them
	byText  []int32 // places in list, in the order of the texts in the row
}

// A rowHit is a place in the open row.
type rowHit struct {
	text, from, to int // offset of the text in the row; bytes of the decoded text
	turn           int // from 1, 0 for none
	loose          bool
	match          string // of one that is not part of the conversation
}

// rowHits looks for the search of a State in the open row, once; nil where it has none.
func (d *Desk) rowHits(s State) *rowHits {
	by := d.search(s)
	if by == nil || d.opened.row == nil {
		return nil
	}
	if h := d.opened.hits; h != nil && h.options == by.options {
		return h
	}
	h := &rowHits{options: by.options, search: by.search, err: by.err}
	d.opened.hits = h
	if h.err != nil {
		return h
	}
	by.search.Finder().Row(d.opened.row, func(hit *search.Hit) bool {
		if h.more = len(h.list) == mostRowHits; h.more {
			return false
		}
		one := rowHit{text: hit.Text, from: hit.Offset, to: hit.Offset + hit.Length, turn: hit.Turn}
		if one.loose = by.options.All && hit.Part == search.Other; one.loose {
			one.match = hit.Match
		}
		h.list = append(h.list, one)
		return true
	})
	h.byText = make([]int32, len(h.list))
	for i := range h.byText {
		h.byText[i] = int32(i)
	}
	slices.SortStableFunc(h.byText, func(a, b int32) int { return cmp.Compare(h.list[a].text, h.list[b].text) })
	return h
}

// toHit leads to a hit of a rollout by its number in it, from 0: to its turn, or, where no transcript shows it, to its
// place in the JSON. hit may be nil where it is not known.
func toHit(s State, place string, n int, hit *search.Hit) string {
	h := rowHit{}
	if hit != nil {
		h = rowHit{text: hit.Text, turn: hit.Turn, match: hit.Match}
		h.loose = searchOptions(s).All && hit.Part == search.Other
	}
	return h.href(s.With(func(s *State) { s.Rollout, s.Check, s.Columns = place, "", nil }), n)
}

func (h *rowHit) href(s State, n int) string {
	return s.With(func(s *State) {
		s.Part, s.Turn, s.At, s.Token, s.Find, s.Hit, s.Open = "", h.turn, "", 0, "", n+1, nil
		if h.loose {
			s.Part, s.Turn, s.Hit, s.At = "raw", 0, 0, spot{'b', h.text}.String()
			if quoted := jsontext.AppendQuoted(nil, h.match); len(quoted) < 200 {
				s.Find = string(quoted[1 : len(quoted)-1])
			}
		}
	}).Href()
}

// now is the hit that a State stands at, from 0; −1 for none.
func (h *rowHits) now(s State) int {
	switch {
	case h == nil:
	case s.Part == "raw":
		if p, _, ok := spotOf(s.At); ok && p.kind == 'b' {
			return slices.IndexFunc(h.list, func(one rowHit) bool { return one.text == p.n })
		}
	case s.Hit > 0 && len(h.list) > 0:
		return min(s.Hit, len(h.list)) - 1
	}
	return -1
}

// atHit is the State with the turn of the hit it stands at.
func (h *rowHits) atHit(s State) State {
	if now := h.now(s); now >= 0 && s.Part != "raw" && s.Part != "calls" {
		s.Turn = h.list[now].turn
	}
	return s
}

// hitBar is the search on the page of a rollout; without a search it is there for the key alone.
func (h *rowHits) bar(s State) *HitBar {
	b := &HitBar{Text: s.Search, All: Link{Text: "all rollouts", Href: s.ToTab(searchTab).Href()},
		Clear: s.With(func(s *State) { s.Search, s.Hit = "", 0 }).Href()}
	switch {
	case h == nil:
		return b
	case h.err != nil:
		message, from, to := search.Mistake(s.Search, h.err)
		if b.Error = message; to > from {
			b.Error = "at character " + strconv.Itoa(utf8.RuneCountInString(s.Search[:from])+1) + ": " + message
		}
		return b
	case len(h.list) == 0:
		b.Found = "not in this rollout"
		return b
	}
	n, now := len(h.list), h.now(s)
	b.Count = n
	b.Found = count(n, "hit", "hits")
	if now >= 0 {
		b.Found = Group(now+1) + " of " + Group(n)
	}
	if h.more {
		b.Found += " or more"
	}
	next := now + 1
	if now < 0 {
		// From where the page stands.
		if next = slices.IndexFunc(h.list, func(one rowHit) bool { return one.turn >= s.Turn }); next < 0 {
			next = 0
		}
		now = next
	}
	to := func(k int) string { return h.list[(k+n)%n].href(s, (k+n)%n) }
	b.Prev, b.Next = to(now-1), to(next)
	return b
}

// textHits are the places of a search in a text that is shown.
type textHits struct {
	list  []Hit
	now   int  // place in list of the one that the page stands at, −1 for none
	stand bool // that one is in what the text is made of
}

// in finds the marks in a text that is made of values of the row. Where a value stands in it as it is decoded, they are
// its hits; where it is laid out in another way, what can be found there.
func (h *rowHits) in(text string, values []jsonscan.Value, now int) textHits {
	m := textHits{now: -1}
	if h == nil || h.err != nil {
		return m
	}
	at := 0
	for _, v := range values {
		first := sort.Search(len(h.byText), func(i int) bool { return h.list[h.byText[i]].text >= v.Offset() })
		last := first + sort.Search(len(h.byText)-first, func(i int) bool { return h.list[h.byText[first+i]].text >= v.Offset()+v.Len() })
		if first == last {
			continue
		}
		k := slices.Index(h.byText[first:last], int32(now)) // of the one that the page stands at
		m.stand = m.stand || k >= 0
		if v.IsString() {
			decoded := v.Text()
			if i := strings.Index(text[at:], decoded); i >= 0 {
				if at += i; k >= 0 {
					m.now = len(m.list) + k
				}
				for _, n := range h.byText[first:last] {
					m.list = append(m.list, Hit{From: at + h.list[n].from, To: at + h.list[n].to})
				}
				at += len(decoded)
				continue
			}
		}
		from := len(m.list)
		h.search.In(text[at:], func(start, end int) bool {
			m.list = append(m.list, Hit{From: at + start, To: at + end})
			return true
		})
		if k >= 0 && len(m.list) > from {
			m.now = min(from+k, len(m.list)-1)
		}
		break
	}
	if m.now >= 0 {
		m.list[m.now].Now, m.list[m.now].ID = true, hitID(now)
	}
	return m
}

// hitID is the element of the hit that the page stands at.
func hitID(n int) string { return "hit-" + strconv.Itoa(n+1) }

// shown gives the marks in the part [from, to) of the text, and how many are outside of it.
func (m *textHits) shown(from, to int) (list []Hit, hidden int) {
	for i, hit := range m.list {
		if hit.From < from || hit.To > to || len(list) >= mostHitMarks && i != m.now {
			hidden++
			continue
		}
		hit.From, hit.To = hit.From-from, hit.To-from
		list = append(list, hit)
	}
	return list, hidden
}

// beyond tells whether the place that the page stands at is cut off behind some characters of a text.
func (m *textHits) beyond(text string, characters int) bool {
	return m.now >= 0 && m.list[m.now].To > prefix(text, characters)
}

// standing finds the element of the hit that the page stands at: its mark, or the block it is in.
func standing(list []Block) string {
	for i := range list {
		b := &list[i]
		for _, h := range b.Hits {
			if h.Now {
				return h.ID
			}
		}
		if b.Stands {
			return "at-" + b.ID
		}
		if id := standing(b.Children); id != "" {
			return id
		}
	}
	return ""
}
