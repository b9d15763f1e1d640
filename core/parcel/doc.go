// Package parcel decides what of runs goes into a bundle and makes its content, for the command and the page alike.
//
// Its nouns: a [Choice] is what a person wants: which rows, by which rules of redaction, under which title. A [Plan] says
// of every file whether it goes along, under which name, and why not otherwise. A [Maker] takes the bytes of the files
// that do, as its host reads them, and hands them as they should be to a writer of blocks. The host asks a maker with
// rules to learn every file first, since what is taken out of one row may stand in any other; see package redact.
//
//	p := parcel.NewPlan(files, choice)
//	m := parcel.NewMaker(p, choice, w)
//	if m.Learns() {
//		for _, file := range p.Rollouts { m.Begin(file, wanted); m.Take(at, b); …; m.End() }
//		m.Learned()
//	}
//	for _, file := range slices.Concat(p.Rollouts, p.Beside) { m.Begin(file, wanted); …; m.End(); m.Source(file, size, sum) }
//	err := m.Finish()
//	index := m.Index() // complete once every block is packed
//
// Nothing is read, packed or timed here.
package parcel
