package gojs

import (
	"io/fs"
	"time"
)

// memNode is a file or directory of the scratch directory, and its own
// description.
type memNode struct {
	name     string
	mode     fs.FileMode
	modified time.Time
	data     []byte
	children map[string]*memNode // of a directory
}

// maxScratchFile is the largest file in bytes.
const maxScratchFile = 1 << 30

func newMemDir(now time.Time) *memNode {
	return &memNode{name: "/", mode: fs.ModeDir | 0o777, modified: now, children: map[string]*memNode{}}
}

func (n *memNode) Name() string       { return n.name }
func (n *memNode) Size() int64        { return int64(len(n.data)) }
func (n *memNode) Mode() fs.FileMode  { return n.mode }
func (n *memNode) ModTime() time.Time { return n.modified }
func (n *memNode) IsDir() bool        { return n.children != nil }
func (n *memNode) Sys() any           { return nil }

func (n *memNode) find(names []string) (*memNode, error) {
	for _, name := range names {
		if !n.IsDir() {
			return nil, errno("ENOTDIR")
		}
		next := n.children[name]
		if next == nil {
			return nil, errno("ENOENT")
		}
		n = next
	}
	return n, nil
}

func (n *memNode) readAt(b []byte, at int64) int {
	if at < 0 || at >= n.Size() {
		return 0
	}
	return copy(b, n.data[at:])
}

func (n *memNode) writeAt(b []byte, at int64) error {
	if at < 0 {
		return errno("EINVAL")
	}
	if at > maxScratchFile-int64(len(b)) {
		return errno("EFBIG")
	}
	if end := at + int64(len(b)); end > n.Size() {
		if err := n.truncate(end); err != nil {
			return err
		}
	}
	copy(n.data[at:], b)
	return nil
}

func (n *memNode) truncate(size int64) error {
	switch {
	case n.IsDir():
		return errno("EISDIR")
	case size < 0:
		return errno("EINVAL")
	case size > maxScratchFile:
		return errno("EFBIG")
	case size <= n.Size():
		clear(n.data[size:])
		n.data = n.data[:size]
	default:
		n.data = append(n.data, make([]byte, size-n.Size())...)
	}
	return nil
}

// parent finds the directory that holds or would hold the last of names.
func (f *files) parent(abs string) (dir *memNode, name string, err error) {
	if len(abs) > maxPath {
		return nil, "", errno("ENAMETOOLONG")
	}
	names, ok := f.inScratch(abs)
	if !ok {
		if _, err := f.name(abs); err != nil {
			return nil, "", err
		}
		return nil, "", errno("EROFS")
	}
	if len(names) == 0 {
		return nil, "", errno("EBUSY") // the scratch directory itself
	}
	last := len(names) - 1
	dir, err = f.scratch.find(names[:last])
	if err != nil {
		return nil, "", err
	}
	if !dir.IsDir() {
		return nil, "", errno("ENOTDIR")
	}
	return dir, names[last], nil
}

func (f *files) openScratch(of *openFile, names []string, perm fs.FileMode) error {
	write := of.flag&(oWronly|oRdwr) != 0
	node, err := f.scratch.find(names)
	switch {
	case err == nil && of.flag&(oCreat|oExcl) == oCreat|oExcl:
		return errno("EEXIST")
	case err == nil && node.IsDir() && (write || of.flag&oTrunc != 0):
		return errno("EISDIR")
	case err == nil && !node.IsDir() && of.flag&oDirectory != 0:
		return errno("ENOTDIR")
	case err == nil:
		if of.flag&oTrunc != 0 {
			node.data = nil
		}
	case errnoOf(err) == "ENOENT" && of.flag&oCreat != 0:
		dir, name, err := f.parent(of.path)
		if err != nil {
			return err
		}
		node = &memNode{name: name, mode: perm.Perm(), modified: f.now()}
		dir.children[name] = node
	default:
		return err
	}
	of.node = node
	return nil
}

func (f *files) mkdir(p string, perm fs.FileMode) error {
	dir, name, err := f.parent(f.abs(p))
	if err != nil {
		return err
	}
	if dir.children[name] != nil {
		return errno("EEXIST")
	}
	dir.children[name] = &memNode{name: name, mode: fs.ModeDir | perm.Perm(), modified: f.now(), children: map[string]*memNode{}}
	return nil
}

// remove takes away a file, or an empty directory when dirs is set.
func (f *files) remove(p string, dirs bool) error {
	dir, name, err := f.parent(f.abs(p))
	if err != nil {
		return err
	}
	n := dir.children[name]
	switch {
	case n == nil:
		return errno("ENOENT")
	case dirs && !n.IsDir():
		return errno("ENOTDIR")
	case !dirs && n.IsDir():
		return errno("EISDIR")
	case len(n.children) > 0:
		return errno("ENOTEMPTY")
	}
	delete(dir.children, name)
	return nil
}

func (f *files) rename(from, to string) error {
	oldDir, oldName, err := f.parent(f.abs(from))
	if err != nil {
		return err
	}
	n := oldDir.children[oldName]
	if n == nil {
		return errno("ENOENT")
	}
	newDir, newName, err := f.parent(f.abs(to))
	if err != nil {
		return err
	}
	if n.IsDir() && n.holds(newDir) {
		return errno("EINVAL") // a directory cannot move into itself
	}
	switch old := newDir.children[newName]; {
	case old == nil || old == n:
	case old.IsDir() && !n.IsDir():
		return errno("EISDIR")
	case !old.IsDir() && n.IsDir():
		return errno("ENOTDIR")
	case len(old.children) > 0:
		return errno("ENOTEMPTY")
	}
	delete(oldDir.children, oldName)
	n.name = newName
	newDir.children[newName] = n
	return nil
}

// holds reports whether dir is n or somewhere below it.
func (n *memNode) holds(dir *memNode) bool {
	if n == dir {
		return true
	}
	for _, c := range n.children {
		if c.IsDir() && c.holds(dir) {
			return true
		}
	}
	return false
}

// edit finds a file of the scratch directory that is to be changed.
func (f *files) edit(p string) (*memNode, error) {
	abs := f.abs(p)
	names, ok := f.inScratch(abs)
	if !ok {
		if _, _, err := f.stat(p, false); err != nil {
			return nil, err
		}
		return nil, errno("EROFS")
	}
	return f.scratch.find(names)
}

func (f *files) editOpen(fd int) (*memNode, error) {
	of, err := f.get(fd)
	if err != nil {
		return nil, err
	}
	if of.node == nil {
		return nil, errno("EROFS")
	}
	return of.node, nil
}
