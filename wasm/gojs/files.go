package gojs

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"
)

// files is the file system of one guest: a read-only tree, and a writable
// directory in memory. Paths are the guest's, slash-separated.
type files struct {
	fsys    fs.FS
	dir     string // working directory
	mount   string // path of the scratch directory, empty if there is none
	scratch *memNode
	now     func() time.Time
	open    map[int]*openFile
}

// openFile is an open descriptor of the guest.
type openFile struct {
	path string
	info fs.FileInfo // of a file of the tree
	r    io.ReaderAt // its content; nil for a directory
	file fs.File
	node *memNode // of the scratch directory, instead of the above
	pos  int64
	flag int
}

// Flags of open. The guest learns the numbers from fs.constants.
const (
	oWronly    = 1
	oRdwr      = 2
	oCreat     = 0o100
	oExcl      = 0o200
	oTrunc     = 0o1000
	oAppend    = 0o2000
	oDirectory = 0o200000
)

const (
	firstFD  = 3 // after standard input, output and error
	maxFiles = 1 << 16
	maxPath  = 4096
)

// errno is an error by the text name that package syscall knows.
type errno string

func (e errno) Error() string { return string(e) }

func newFiles(cfg Config) *files {
	f := &files{fsys: cfg.FS, dir: cfg.Dir, mount: cfg.Scratch, now: cfg.Clock.Now, open: map[int]*openFile{}}
	if f.mount != "" {
		f.scratch = newMemDir(f.now())
	}
	return f
}

// errnoOf finds the name of an error of a file system.
func errnoOf(err error) errno {
	var e errno
	if errors.As(err, &e) {
		return e
	}
	for _, c := range []struct {
		err  error
		name errno
	}{
		{syscall.ENOTDIR, "ENOTDIR"}, {syscall.EISDIR, "EISDIR"}, {syscall.ELOOP, "ELOOP"},
		{syscall.ENAMETOOLONG, "ENAMETOOLONG"}, {syscall.EMFILE, "EMFILE"}, {syscall.EPERM, "EPERM"},
		{fs.ErrNotExist, "ENOENT"}, {fs.ErrExist, "EEXIST"}, {fs.ErrPermission, "EACCES"},
		{fs.ErrInvalid, "EINVAL"}, {fs.ErrClosed, "EBADF"},
	} {
		if errors.Is(err, c.err) {
			return c.name
		}
	}
	return "EIO"
}

// abs is the absolute form of a path.
func (f *files) abs(p string) string {
	if !path.IsAbs(p) {
		p = path.Join(f.dir, p)
	}
	return path.Clean(p)
}

// inScratch splits an absolute path below the scratch directory.
func (f *files) inScratch(abs string) (names []string, ok bool) {
	if f.scratch == nil {
		return nil, false
	}
	if abs == f.mount {
		return nil, true
	}
	rest, ok := strings.CutPrefix(abs, f.mount+"/")
	if !ok {
		return nil, false
	}
	return strings.Split(rest, "/"), true
}

// name is the form of an absolute path that io/fs wants.
func (f *files) name(abs string) (string, error) {
	if f.fsys == nil {
		if f.scratch == nil {
			return "", errno("ENOSYS")
		}
		return "", errno("ENOENT")
	}
	if abs == "/" {
		return ".", nil
	}
	name := strings.TrimPrefix(abs, "/")
	if !fs.ValidPath(name) {
		return "", errno("EINVAL")
	}
	return name, nil
}

// stat describes the file at a path; link says not to follow a last symbolic link.
func (f *files) stat(p string, link bool) (fs.FileInfo, string, error) {
	abs := f.abs(p)
	if names, ok := f.inScratch(abs); ok {
		n, err := f.scratch.find(names)
		if err != nil {
			return nil, "", err
		}
		return n, abs, nil
	}
	name, err := f.name(abs)
	if err != nil {
		return nil, "", err
	}
	var info fs.FileInfo
	if link {
		info, err = fs.Lstat(f.fsys, name)
	} else {
		info, err = fs.Stat(f.fsys, name)
	}
	return info, abs, err
}

func (f *files) chdir(p string) error {
	info, abs, err := f.stat(p, false)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return errno("ENOTDIR")
	}
	f.dir = abs
	return nil
}

func (f *files) readlink(p string) (string, error) {
	abs := f.abs(p)
	if _, ok := f.inScratch(abs); ok {
		return "", errno("EINVAL") // no links there
	}
	name, err := f.name(abs)
	if err != nil {
		return "", err
	}
	return fs.ReadLink(f.fsys, name)
}

func (f *files) readdir(p string) ([]string, error) {
	abs := f.abs(p)
	names := []string{}
	if at, ok := f.inScratch(abs); ok {
		n, err := f.scratch.find(at)
		if err != nil {
			return nil, err
		}
		if !n.IsDir() {
			return nil, errno("ENOTDIR")
		}
		for name := range n.children {
			names = append(names, name)
		}
		slices.Sort(names)
		return names, nil
	}
	name, err := f.name(abs)
	if err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(f.fsys, name)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

// openPath opens a file and returns its descriptor.
func (f *files) openPath(p string, flag int, perm fs.FileMode) (int, error) {
	if len(f.open) >= maxFiles {
		return 0, errno("EMFILE")
	}
	abs := f.abs(p)
	of := &openFile{path: abs, flag: flag}
	var err error
	if names, ok := f.inScratch(abs); ok {
		err = f.openScratch(of, names, perm)
	} else {
		err = f.openTree(of)
	}
	if err != nil {
		return 0, err
	}
	fd := firstFD
	for f.open[fd] != nil {
		fd++
	}
	f.open[fd] = of
	return fd, nil
}

func (f *files) openTree(of *openFile) error {
	name, err := f.name(of.path)
	if err != nil {
		return err
	}
	if of.flag&(oWronly|oRdwr|oTrunc) != 0 {
		return errno("EROFS")
	}
	if of.flag&oCreat != 0 {
		if _, err := fs.Stat(f.fsys, name); err != nil || of.flag&oExcl != 0 {
			return errno("EROFS")
		}
	}
	file, err := f.fsys.Open(name)
	if err != nil {
		return err
	}
	of.file = file
	if of.info, err = file.Stat(); err == nil {
		switch r, ok := file.(io.ReaderAt); {
		case of.info.IsDir():
		case of.flag&oDirectory != 0:
			err = errno("ENOTDIR")
		case ok:
			of.r = r
		default:
			// The guest may read at any offset, which not every file allows.
			var b []byte
			b, err = io.ReadAll(file)
			of.r = strings.NewReader(string(b))
		}
	}
	if err != nil {
		_ = file.Close()
	}
	return err
}

func (f *files) get(fd int) (*openFile, error) {
	if of := f.open[fd]; of != nil {
		return of, nil
	}
	return nil, errno("EBADF")
}

func (f *files) fstat(fd int) (fs.FileInfo, string, error) {
	of, err := f.get(fd)
	if err != nil {
		return nil, "", err
	}
	if of.node != nil {
		return of.node, of.path, nil
	}
	return of.info, of.path, nil
}

func (f *files) close(fd int) error {
	of, err := f.get(fd)
	if err != nil {
		return err
	}
	delete(f.open, fd)
	if of.file != nil {
		return of.file.Close()
	}
	return nil
}

func (f *files) closeAll() {
	for fd := range f.open {
		_ = f.close(fd)
	}
}

// read fills b from a position, or from where the descriptor stands when pos is
// negative.
func (f *files) read(fd int, b []byte, pos int64) (int, error) {
	of, err := f.get(fd)
	if err != nil {
		return 0, err
	}
	at := pos
	if pos < 0 {
		at = of.pos
	}
	var n int
	switch {
	case of.flag&oWronly != 0:
		return 0, errno("EBADF")
	case of.node != nil && !of.node.IsDir():
		n = of.node.readAt(b, at)
	case of.r != nil:
		n, err = of.r.ReadAt(b, at)
		if errors.Is(err, io.EOF) {
			err = nil
		}
	default:
		return 0, errno("EISDIR")
	}
	if pos < 0 {
		of.pos += int64(n)
	}
	return n, err
}

// write stores b like read reads it. Only files of the scratch directory can be
// open for writing.
func (f *files) write(fd int, b []byte, pos int64) (int, error) {
	of, err := f.get(fd)
	if err != nil {
		return 0, err
	}
	if of.node == nil || of.flag&(oWronly|oRdwr) == 0 {
		return 0, errno("EBADF")
	}
	at := pos
	if pos < 0 {
		at = of.pos
	}
	if of.flag&oAppend != 0 {
		at = of.node.Size()
	}
	if err := of.node.writeAt(b, at); err != nil {
		return 0, err
	}
	of.node.modified = f.now()
	if pos < 0 {
		of.pos = at + int64(len(b))
	}
	return len(b), nil
}
