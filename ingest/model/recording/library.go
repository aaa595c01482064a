package recording

import (
	"path"
	"slices"
	"strings"
)

// libraries lists prefixes of the names of library functions: the standard libraries of Go,
// Java, Kotlin, Scala, C and C++.
var libraries = []string{"runtime.", "runtime/", "sync.", "sync/", "internal/", "syscall.", "time.", "net.", "net/", "os.", "os/", "io.", "io/", "bufio.", "bytes.", "strings.", "strconv.", "fmt.", "sort.", "slices.", "maps.", "regexp.", "regexp/",
	"encoding/", "compress/", "crypto.", "crypto/", "hash.", "hash/", "cmp.", "flag.", "math.", "math/", "reflect.", "unicode/", "unicode.", "path.", "path/", "container/", "text/", "html/", "log.", "log/", "errors.", "context.", "unique.", "iter.", "archive/", "database/", "debug/", "expvar.", "go/", "image/", "mime/", "testing.", "testing/", "vendor/golang.org/",
	"memeqbody", "aeshashbody", "cmpbody", "indexbytebody", "gcWriteBarrier",
	"java.", "javax.", "jdk.", "sun.", "com.sun.", "java/", "javax/", "jdk/", "sun/", "kotlin.", "kotlinx.coroutines.", "scala.", "std::", "__gnu_cxx::", "__libc_", "__GI_", "_start", "pthread_", "__lll_lock"}

// systems lists prefixes of the base names of modules that belong to the system or to a
// language's runtime.
var systems = []string{"libc.", "libc-", "libm.", "libm-", "libpthread", "ld-linux", "libstdc++", "libc++", "libgcc", "[kernel", "[vdso", "vmlinux", "libjvm", "libpython", "node:"}

// Library reports whether a function is not the program's own but belongs to the kernel, a
// system library or a language's standard library. It looks at kind, module, file and name.
func (f *Function) Library() bool {
	if f.Kind == KindKernel || strings.HasPrefix(f.Module, "node:") || strings.HasPrefix(f.File, "node:") {
		return true
	}
	base := path.Base(f.Module)
	return slices.ContainsFunc(systems, func(p string) bool { return strings.HasPrefix(base, p) }) ||
		slices.ContainsFunc(libraries, func(p string) bool { return strings.HasPrefix(f.Name, p) })
}
