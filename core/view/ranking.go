package view

import (
	"cmp"
	"math"
	"slices"

	"github.com/rollscope/rollscope/core/order"
	"github.com/rollscope/rollscope/core/rollout"
)

// A ranking sorts rows by one column without holding them: of every row it keeps a number that orders it, and of
// texts and indices each different one once.
type ranking struct {
	rows  []rank
	texts words[string]      // interned texts of the column
	keys  words[rollout.Key] // interned indices of the column
}

// A rank orders a row: by class, then by number. Texts and indices have their place in the list of words until all
// are known.
type rank struct {
	class  uint8
	number float64
}

// The classes of a rank. Rows without a value come last in both directions.
const (
	classNumber = iota
	classWord
	classMissing
)

type words[T comparable] struct {
	list []T
	at   map[T]int32
}

func (w *words[T]) intern(v T) float64 {
	if w.at == nil {
		w.at = map[T]int32{}
	}
	return float64(indexOf(v, w.at, &w.list))
}

// places gives the place of every word in the order of compare.
func (w *words[T]) places(compare func(a, b T) int) []int32 {
	sorted := make([]int32, len(w.list))
	for i := range sorted {
		sorted[i] = int32(i)
	}
	slices.SortFunc(sorted, func(a, b int32) int { return compare(w.list[a], w.list[b]) })
	places := make([]int32, len(sorted))
	for place, i := range sorted {
		places[i] = int32(place)
	}
	return places
}

// A ranker adds a row to a ranking.
type ranker func(r *ranking, i *item)

// byCount ranks by a count of which a negative one says that there is none.
func byCount(of func(*item) int64) ranker {
	return func(r *ranking, i *item) {
		if n := of(i); n >= 0 {
			r.rows = append(r.rows, rank{classNumber, float64(n)})
		} else {
			r.rows = append(r.rows, rank{class: classMissing})
		}
	}
}

// byJSON ranks by a saved value: numbers by value, everything else behind them by its text.
func byJSON(of func(*item) string) ranker {
	return func(r *ranking, i *item) {
		text := of(i)
		if f := double(text); !math.IsNaN(f) {
			r.rows = append(r.rows, rank{classNumber, f})
		} else {
			r.word(text)
		}
	}
}

// byWord ranks by a text, numbers inside it by their values.
func byWord(of func(*item) string) ranker {
	return func(r *ranking, i *item) { r.word(of(i)) }
}

func (r *ranking) word(text string) {
	if text == "" {
		r.rows = append(r.rows, rank{class: classMissing})
		return
	}
	r.rows = append(r.rows, rank{classWord, r.texts.intern(text)})
}

// byIndex ranks by a task, rollout or stage index.
func byIndex(of func(*item) rollout.Key) ranker {
	return func(r *ranking, i *item) {
		key := of(i)
		if key.IsNone() {
			r.rows = append(r.rows, rank{class: classMissing})
			return
		}
		r.rows = append(r.rows, rank{classWord, r.keys.intern(key)})
	}
}

// order gives the rows in their order, by the places they were added at. Rows of one rank stay as they were.
func (r *ranking) order(down bool) []int32 {
	places := r.texts.places(order.Name)
	if len(r.keys.list) > 0 {
		places = r.keys.places(rollout.Key.Compare)
	}
	for i := range r.rows {
		if r.rows[i].class == classWord {
			r.rows[i].number = float64(places[int(r.rows[i].number)])
		}
	}
	list := make([]int32, len(r.rows))
	for i := range list {
		list[i] = int32(i)
	}
	slices.SortStableFunc(list, func(a, b int32) int {
		x, y := r.rows[a], r.rows[b]
		switch {
		case x.class != y.class:
			return cmp.Compare(x.class, y.class)
		case down:
			return cmp.Compare(y.number, x.number)
		}
		return cmp.Compare(x.number, y.number)
	})
	return list
}
