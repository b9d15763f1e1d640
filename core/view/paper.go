package view

import "fmt"

// largestPaper bounds the small documents of a run that a page reads whole, in bytes.
const largestPaper = 64 << 20

// papers are small files beside the rollouts, such as saved metrics, by their number in the list of files.
type papers map[int]paper

type paper struct {
	text    []byte
	problem string
}

// paper gives the bytes of a small file. While they are not there it gives the Need for them; problem says why they
// never will be.
func (d *Desk) paper(file int) (text []byte, problem string, need *Need) {
	if p, ok := d.papers[file]; ok {
		return p.text, p.problem, nil
	}
	size := d.files[file].Size
	switch {
	case size > largestPaper:
		return nil, fmt.Sprintf("it has %s bytes, more than the %s that are read here at once", Group(size), Group(int64(largestPaper))), nil
	case size == 0:
		return nil, "", nil
	}
	return nil, "", &Need{file, 0, size}
}

// keep takes the bytes of a small file and tells whether it is one.
func (d *Desk) keepPaper(n Need, data []byte, problem string) bool {
	if _, scanned := d.sourceOf[n.File]; scanned || n.File < 0 || n.File >= len(d.files) || n.Offset != 0 || n.Length != d.files[n.File].Size {
		return false
	}
	if d.papers == nil {
		d.papers = papers{}
	}
	d.papers[n.File] = paper{data, problem}
	return true
}
