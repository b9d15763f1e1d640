package gojs

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"time"
)

// fileError is the Error object for an error of the file system.
func (r *realm) fileError(err error) *Object {
	code := errnoOf(err)
	return r.codeError(string(code), err.Error())
}

// initFS adds the fs object. Its functions report through a callback as in
// Node.js, but call it before they return, so that files can be used where the
// event loop does not run: inside an export. Only reading standard input waits.
func (r *realm) initFS() {
	in := r.in
	o := r.newObject(r.objectProto)
	r.global.Set("fs", o)
	constants := r.newObject(r.objectProto)
	for _, c := range []struct {
		name string
		flag int
	}{
		{"O_RDONLY", 0}, {"O_WRONLY", oWronly}, {"O_RDWR", oRdwr}, {"O_CREAT", oCreat}, {"O_EXCL", oExcl},
		{"O_TRUNC", oTrunc}, {"O_APPEND", oAppend}, {"O_DIRECTORY", oDirectory},
	} {
		constants.Set(c.name, Number(c.flag))
	}
	o.Set("constants", constants)

	// call adds a function whose last argument is the callback.
	call := func(name string, f func(args []Value) (Value, error)) {
		r.method(o, name, func(ctx context.Context, _ Value, args []Value) (Value, error) {
			if len(args) == 0 {
				return nil, r.typeError("fs." + name + ": no callback")
			}
			last := len(args) - 1
			v, err := f(args[:last])
			return Undefined{}, r.answer(ctx, args[last], v, err)
		})
	}
	text := func(args []Value, i int) string { return Text(arg(args, i)) }
	num := func(args []Value, i int) int { return int(toInt(arg(args, i))) }
	perm := func(args []Value, i int) fs.FileMode { return fs.FileMode(num(args, i)) & fs.ModePerm }
	none := func(err error) (Value, error) { return Undefined{}, err }
	stat := func(info fs.FileInfo, path string, err error) (Value, error) {
		if err != nil {
			return nil, err
		}
		return r.newStat(info, path), nil
	}

	call("open", func(a []Value) (Value, error) {
		fd, err := in.files.openPath(text(a, 0), num(a, 1), perm(a, 2))
		return Number(fd), err
	})
	call("close", func(a []Value) (Value, error) { return none(in.files.close(num(a, 0))) })
	call("stat", func(a []Value) (Value, error) { return stat(in.files.stat(text(a, 0), false)) })
	call("lstat", func(a []Value) (Value, error) { return stat(in.files.stat(text(a, 0), true)) })
	call("fstat", func(a []Value) (Value, error) {
		if fd := num(a, 0); fd >= 0 && fd < firstFD {
			return r.newStat(deviceInfo{in.clock.Now()}, fmt.Sprint("/dev/fd/", fd)), nil
		}
		return stat(in.files.fstat(num(a, 0)))
	})
	call("readdir", func(a []Value) (Value, error) {
		names, err := in.files.readdir(text(a, 0))
		list := make([]Value, len(names))
		for i, n := range names {
			list[i] = String(n)
		}
		return r.newArray(list), err
	})
	call("readlink", func(a []Value) (Value, error) {
		to, err := in.files.readlink(text(a, 0))
		return String(to), err
	})
	call("mkdir", func(a []Value) (Value, error) {
		return none(in.files.mkdir(text(a, 0), perm(a, 1)))
	})
	call("unlink", func(a []Value) (Value, error) { return none(in.files.remove(text(a, 0), false)) })
	call("rmdir", func(a []Value) (Value, error) { return none(in.files.remove(text(a, 0), true)) })
	call("rename", func(a []Value) (Value, error) { return none(in.files.rename(text(a, 0), text(a, 1))) })

	// The rest changes one file, found by its path or by a descriptor.
	edit := func(byPath, byFD string, f func(n *memNode, a []Value) error) {
		change := func(n *memNode, err error, a []Value) (Value, error) {
			if err == nil {
				err = f(n, a)
			}
			return none(err)
		}
		call(byPath, func(a []Value) (Value, error) {
			n, err := in.files.edit(text(a, 0))
			return change(n, err, a)
		})
		call(byFD, func(a []Value) (Value, error) {
			n, err := in.files.editOpen(num(a, 0))
			return change(n, err, a)
		})
	}
	edit("truncate", "ftruncate", func(n *memNode, a []Value) error { return n.truncate(toInt(arg(a, 1))) })
	edit("chmod", "fchmod", func(n *memNode, a []Value) error {
		n.mode = n.mode&fs.ModeType | perm(a, 1)
		return nil
	})
	edit("utimes", "futimes", func(n *memNode, a []Value) error {
		n.modified = time.Unix(toInt(arg(a, 2)), 0)
		return nil
	})
	for _, name := range []string{"chown", "fchown", "lchown", "link", "symlink"} {
		call(name, func([]Value) (Value, error) { return nil, errno("ENOSYS") })
	}
	call("fsync", func([]Value) (Value, error) { return Undefined{}, nil })

	r.method(o, "read", func(ctx context.Context, _ Value, args []Value) (Value, error) {
		return Undefined{}, r.transfer(ctx, args, func(fd int, b []byte, pos int64, done func(context.Context, int, error) error) error {
			if fd != 0 {
				n, err := in.files.read(fd, b, pos)
				return done(ctx, n, err)
			}
			in.readStdin(b, done)
			return nil
		})
	})
	r.method(o, "write", func(ctx context.Context, _ Value, args []Value) (Value, error) {
		return Undefined{}, r.transfer(ctx, args, func(fd int, b []byte, pos int64, done func(context.Context, int, error) error) error {
			var n int
			var err error
			switch fd {
			case 1:
				n, err = in.stdout.Write(b)
			case 2:
				n, err = in.stderr.Write(b)
			default:
				n, err = in.files.write(fd, b, pos)
			}
			return done(ctx, n, err)
		})
	})
}

// answer calls a callback with an error or with a result.
func (r *realm) answer(ctx context.Context, callback, v Value, err error) error {
	args := []Value{Null{}, v}
	if err != nil {
		args = []Value{r.fileError(err)}
	}
	_, err = r.call(ctx, callback, Undefined{}, args)
	return err
}

// transfer checks the arguments that read and write share: descriptor, byte
// array, offset and length in it, position or null, callback.
func (r *realm) transfer(ctx context.Context, args []Value,
	f func(fd int, b []byte, pos int64, done func(context.Context, int, error) error) error,
) error {
	callback := arg(args, 5)
	done := func(ctx context.Context, n int, err error) error {
		return r.answer(ctx, callback, Number(n), err)
	}
	b, ok := byteArray(arg(args, 1))
	off, n := toInt(arg(args, 2)), toInt(arg(args, 3))
	if !ok || off < 0 || n < 0 || off > int64(len(b)) || n > int64(len(b))-off {
		return done(ctx, 0, errno("EINVAL"))
	}
	pos := int64(-1)
	if p, ok := arg(args, 4).(Number); ok {
		if pos = toInt(p); pos < 0 {
			return done(ctx, 0, errno("EINVAL"))
		}
	}
	return f(int(toInt(arg(args, 0))), b[off:off+n], pos, done)
}

// readStdin reads into memory of its own: the guest may do anything to the
// array before the input comes.
func (in *Instance) readStdin(b []byte, done func(context.Context, int, error) error) {
	own := make([]byte, len(b))
	var n int
	var err error
	in.background(func() {
		n, err = in.stdin.Read(own)
		if err == io.EOF {
			err = nil
		}
	}, func(ctx context.Context) error {
		return done(ctx, copy(b, own[:n]), err)
	})
}

// deviceInfo describes the three standard descriptors.
type deviceInfo struct{ now time.Time }

func (deviceInfo) Name() string         { return "" }
func (deviceInfo) Size() int64          { return 0 }
func (deviceInfo) Mode() fs.FileMode    { return fs.ModeDevice | fs.ModeCharDevice | 0o620 }
func (d deviceInfo) ModTime() time.Time { return d.now }
func (deviceInfo) IsDir() bool          { return false }
func (deviceInfo) Sys() any             { return nil }

// fileTypes are the type bits of a mode as package syscall defines them.
var fileTypes = []struct {
	mode fs.FileMode
	bits uint32
}{
	{fs.ModeDir, 0o040000}, {fs.ModeSymlink, 0o120000}, {fs.ModeNamedPipe, 0o010000},
	{fs.ModeSocket, 0o140000}, {fs.ModeCharDevice, 0o020000}, {fs.ModeDevice, 0o060000},
}

// newStat makes the object that stat functions return. What a file system of
// Go does not know is made up; the inode number comes from the path, so that
// the same file is recognised as such.
func (r *realm) newStat(info fs.FileInfo, path string) *Object {
	bits := uint32(0o100000)
	for _, t := range fileTypes {
		if info.Mode()&t.mode != 0 {
			bits = t.bits
			break
		}
	}
	h := fnv.New64a()
	_, _ = io.WriteString(h, path)
	ms := Number(info.ModTime().UnixMilli())
	o := r.newObject(r.objectProto)
	for _, p := range []struct {
		name  string
		value Number
	}{
		{"dev", 1},
		{"ino", Number(h.Sum64() >> 11)}, // what a number holds exactly
		{"mode", Number(bits | uint32(info.Mode().Perm()))},
		{"nlink", 1},
		{"uid", 0}, {"gid", 0}, {"rdev", 0},
		{"size", Number(info.Size())},
		{"blksize", 4096},
		{"blocks", Number((info.Size() + 511) / 512)},
		{"atimeMs", ms}, {"mtimeMs", ms}, {"ctimeMs", ms},
	} {
		o.Set(p.name, p.value)
	}
	is := func(name string, yes bool) {
		r.method(o, name, func(context.Context, Value, []Value) (Value, error) { return Bool(yes), nil })
	}
	is("isDirectory", info.IsDir())
	is("isFile", info.Mode().IsRegular())
	is("isSymbolicLink", info.Mode()&fs.ModeSymlink != 0)
	return o
}
