package records

// pages is a list that grows without moving what it holds, so that a million rows cost no second copy.
type pages[T any] struct {
	list [][]T
	size int
}

const pageBits = 12

func (p *pages[T]) len() int { return p.size }

func (p *pages[T]) at(i int32) *T { return &p.list[i>>pageBits][i&(1<<pageBits-1)] }

func (p *pages[T]) add(v T) int32 {
	if p.size>>pageBits == len(p.list) {
		// The first page grows by itself, since most runs are small.
		size := 1 << pageBits
		if len(p.list) == 0 {
			size = 16
		}
		p.list = append(p.list, make([]T, 0, size))
	}
	last := &p.list[p.size>>pageBits]
	*last = append(*last, v)
	p.size++
	return int32(p.size - 1)
}
