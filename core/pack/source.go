package pack

import (
	"errors"
	"io"
)

// A Reader reads the files of a bundle, a block at a time.
type Reader struct {
	*Index
	fetch func(n int) ([]byte, error)
	last  int // number of the block that is open, from 1
	plain []byte
}

// NewReader makes a Reader; fetch gives the packed bytes of a block.
func NewReader(x *Index, fetch func(n int) ([]byte, error)) *Reader {
	return &Reader{Index: x, fetch: fetch}
}

// block opens a block, or gives the one that is open.
func (r *Reader) block(n int) ([]byte, error) {
	if r.last == n+1 {
		return r.plain, nil
	}
	packed, err := r.fetch(n)
	if err != nil {
		return nil, &Damage{r.Place(n), err.Error()}
	}
	if r.plain, err = r.Open(n, packed); err != nil {
		r.last = 0
		return nil, err
	}
	r.last = n + 1
	return r.plain, nil
}

// ReadAt reads the content of one file.
func (r *Reader) ReadAt(file int, b []byte, offset int64) (int, error) {
	f := &r.Files[file]
	if offset < 0 {
		return 0, errors.New("negative offset")
	}
	end := error(nil)
	if rest := max(f.Size-offset, 0); int64(len(b)) > rest {
		b, end = b[:rest], io.EOF
	}
	from, to := r.Span(f.At+offset, int64(len(b)))
	done := 0
	for n := from; n < to; n++ {
		plain, err := r.block(n)
		if err != nil {
			return done, err
		}
		skip := max(f.At+offset+int64(done)-r.At(n), 0)
		done += copy(b[done:], plain[skip:])
	}
	return done, end
}

// Verify opens every block and gives what is wrong with each that is damaged.
func (r *Reader) Verify() []error {
	var errs []error
	for n := range r.Blocks {
		if _, err := r.block(n); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}
