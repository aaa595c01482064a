package findings

import (
	"path"
	"strings"

	"ashlar/ingest/model/recording"
)

// class is a set of kinds of functions, recognized by their names.
type class uint32

const (
	collecting class = 1 << iota
	locking
	idling
	inKernel
	// asking is for spans only: samples in such functions need not wait.
	asking
	// joining is waiting for threads to end, which some runtimes do with a lock. It is also idling.
	joining

	// Kinds of work that libraries do; see works.
	throwing
	syncing
	matching
	coding
	copying
	formatting
	faulting
	moving
	allocating
	spawning
	searching
	measuring
	connecting
	accessing
)

// names lists the functions of each class: functions that do nothing else, and the names
// that runtimes use for the activity in traces. A * stands for any text, except in Go's (*T).
var names = map[class][]string{
	collecting: {
		"runtime.gcBgMarkWorker", "runtime.gcAssistAlloc*", "runtime.bgsweep", "runtime.gcStart", "runtime.gcMarkTermination", "runtime.bgscavenge",
		"GCTaskThread::run", "G1*::work", "VM_G1*", "ZGC*", "ParallelGC*", "(garbage collector)", "(garbage collection)", "MinorGC", "MajorGC", "V8.GC*", "GC",
		"v8::internal::Heap::CollectGarbage", "v8::internal::Heap::PerformGarbageCollection", "gc_start", "rb_gc_*", "gc_collect_main*", "_PyGC_Collect*", "gc.collect",
		"WKS::gc_heap::*", "SVR::gc_heap::*", "mono_gc_collect", "GC_collect_a_little*", "BlinkGC.*", "mark_and_sweep",
	},
	locking: {
		"__lll_lock_wait*", "pthread_mutex_lock*", "__pthread_mutex_lock*", "___pthread_mutex_lock", "pthread_rwlock_*lock", "__GI___lll_lock_wait*",
		"sync.(*Mutex).Lock", "sync.(*Mutex).lockSlow", "internal/sync.(*Mutex).Lock", "internal/sync.(*Mutex).lockSlow", "sync.(*RWMutex).Lock", "sync.(*RWMutex).RLock",
		"runtime.lock2", "std::mutex::lock", "std::__1::mutex::lock", "ObjectMonitor::enter*", "ObjectMonitor::EnterI", "parking_lot::raw_mutex::RawMutex::lock_slow",
		"std::sys::sync::mutex::futex::Mutex::lock_contended", "native_queued_spin_lock_slowpath*", "queued_spin_lock_slowpath", "__mutex_lock*", "rwsem_down_*", "osq_lock",
		"futex_lock_pi*", "take_gil", "EnterCriticalSection", "RtlEnterCriticalSection", "RtlpEnterCriticalSectionContended", "java.util.concurrent.locks.ReentrantLock.lock",
		"wait for lock*", "waiting for lock*", "lock wait*", "lock contention*", "monitor contention*", "acquire lock*", "Lock contention*",
	},
	idling: {
		"[blocked*", "do_idle", "cpu_startup_entry", "intel_idle*", "acpi_idle*", "poll_idle", "cpuidle_enter*", "native_safe_halt", "default_idle*", "swapper", "runtime.gopark", "runtime.notesleep", "runtime.notetsleep*", "runtime.futexsleep", "runtime.semasleep", "runtime.sigNoteSleep", "runtime.usleep", "ThreadEventQueue::GetEvent::Wait", "(idle)", "[idle]", "idle", "runtime.findRunnable",
		"epoll_wait", "__epoll_wait", "poll", "__poll", "select", "__select", "nanosleep", "__nanosleep", "clock_nanosleep*", "sleep", "time.sleep", "pthread_cond_wait*", "pthread_cond_timedwait*", "__pthread_cond_*wait*", "___pthread_cond_*wait*",
		"sem_wait*", "sem_timedwait*", "__new_sem_wait*", "__futex_abstimed_wait*", "futex_wait*", "ppoll", "__ppoll", "pselect*", "epoll_pwait*", "__sigtimedwait", "PlatformEvent::park*", "Parker::park", "PlatformMonitor::wait", "PosixSemaphore::wait",
		"jdk.internal.misc.Unsafe.park", "java.lang.Object.wait*", "java.lang.Thread.sleep*", "sun.misc.Unsafe.park", "mach_msg_trap", "__psynch_cvwait", "kevent", "golang.org/x/sys/unix.kevent", "golang.org/x/sys/unix.Kevent", "golang.org/x/sys/unix.EpollWait", "syscall.EpollWait", "WaitForSingleObject*", "NtWaitFor*", "(program)",
	},
	asking:  {"*::lock", "*.lock", "*::acquire", "*.acquire", "acquire"},
	joining: {"Thread.join", "Thread._wait_for_tstate_lock", "_wait_for_tstate_lock", "_ThreadHandle.join", "java.lang.Thread.join", "std::thread::join", "pthread_join", "__pthread_*join*"},
	throwing: {
		"__cxa_throw", "__cxa_rethrow", "__cxa_allocate_exception", "_Unwind_RaiseException*", "_Unwind_Resume", "_Unwind_Backtrace", "_Unwind_Find_FDE", "__gxx_personality_v0", "_CxxThrowException", "RtlRaiseException", "RaiseException", "objc_exception_throw", "IL_Throw",
		"java.lang.Throwable.fillInStackTrace", "java.lang.Throwable.<init>", "java.lang.Exception.<init>", "java.lang.RuntimeException.<init>", "runtime.gopanic", "prepareStackTrace*", "captureStackTrace", "captureLargerStackTrace",
	},
	syncing: {
		"fsync", "fdatasync", "fsyncSync", "fdatasyncSync", "do_fsync", "vfs_fsync*", "__x64_sys_fsync", "__x64_sys_fdatasync", "__arm64_sys_fsync", "__arm64_sys_fdatasync", "FlushFileBuffers", "NtFlushBuffersFile", "os.fsync", "posix.fsync",
		"os.(*File).Sync", "internal/poll.(*FD).Fsync", "syscall.Fsync", "java.io.FileDescriptor.sync*", "sun.nio.ch.FileChannelImpl.force", "sun.nio.ch.FileDispatcherImpl.force0", "sun.nio.ch.UnixFileDispatcherImpl.force0",
	},
	matching: {
		"regexp.Compile", "regexp.MustCompile", "regexp.CompilePOSIX", "java.util.regex.Pattern.compile", "java.util.regex.Pattern.<init>", "re._compile", "sre_compile.compile", "re._compiler.compile", "std::basic_regex*", "std::__cxx11::basic_regex*", "std::__detail::_Compiler*", "regcomp", "pcre_compile*", "pcre2_compile*",
	},
	connecting: {
		"crypto/tls.(*Conn).Handshake*", "crypto/tls.(*Conn).handshakeContext", "SSL_do_handshake", "SSL_connect", "SSL_accept", "gnutls_handshake", "sun.security.ssl.SSLSocketImpl.startHandshake", "sun.security.ssl.HandshakeContext.*", "ssl.SSLSocket.do_handshake", "rustls::conn::ConnectionCommon*complete_io",
	},
	coding: {
		"encoding/json.*", "json.loads", "json.dumps", "JSON.parse", "JSON.stringify", "com.fasterxml.jackson.*", "com.google.gson.*", "nlohmann::*", "serde_json::*", "System.Text.Json.*", "Newtonsoft.Json.*",
	},
	copying: {"deepcopy", "copy.deepcopy", "cloneDeep", "baseClone", "structuredClone"},
	formatting: {
		"fmt.Sprint*", "fmt.Fprint*", "fmt.Append*", "fmt.Errorf", "java.lang.String.format", "java.lang.String.formatted", "java.util.Formatter.*", "snprintf", "sprintf", "vsnprintf", "__vsnprintf_internal", "__vfprintf_internal", "___snprintf_chk", "__snprintf_chk", "__sprintf_chk", "std::__cxx11::basic_ostringstream*", "std::ostream::*",
	},
	faulting: {"asm_exc_page_fault", "exc_page_fault", "page_fault", "do_page_fault", "__do_page_fault", "do_user_addr_fault", "handle_mm_fault", "do_anonymous_page", "do_mem_abort"},
	moving: {
		"memcpy", "memmove", "memset", "__memcpy_*", "__memmove_*", "__memset_*", "runtime.memmove", "runtime.memclrNoHeapPointers", "runtime.duffcopy", "runtime.duffzero", "java.lang.System.arraycopy", "java.util.Arrays.copyOf", "java.util.Arrays.copyOfRange",
	},
	allocating: {
		"malloc", "calloc", "realloc", "free", "cfree", "_int_malloc", "_int_free", "malloc_consolidate", "operator new*", "operator delete*", "runtime.mallocgc", "runtime.newobject", "runtime.makeslice", "runtime.growslice",
	},
	spawning:  {"fork", "vfork", "posix_spawn*", "__x64_sys_execve", "__x64_sys_vfork", "os/exec.(*Cmd).Start", "os.StartProcess", "syscall.forkExec", "spawnSync", "execSync", "execFileSync", "subprocess.Popen.__init__", "Popen.__init__", "java.lang.ProcessBuilder.start", "CreateProcess*"},
	accessing: {"fs.sync.*"}, // in trace events of Node, one for each call
	searching: {"java.util.LinkedList.get", "java.util.LinkedList.node", "java.util.LinkedList.indexOf", "java.util.ArrayList.indexOf", "java.util.ArrayList.indexOfRange", "slices.Index*", "slices.Contains*", "std::find*", "std::__find_if*"},
	measuring: {"strlen", "__strlen_*", "wcslen", "__wcslen_*"},
}

// pattern is a name with a star: what follows the star, which stands for any text, and the
// class.
type pattern struct {
	end string
	is  class
}

// classesOf returns the class of each function of a recording.
func classesOf(rec *recording.Recording) []class {
	whole, begins := map[string]class{}, map[string][]pattern{} // by name; by what precedes the star
	shortest, longest := 1<<10, 0
	for c, all := range names {
		for _, n := range all {
			head, end, star := strings.Cut(n, "*")
			if !star || strings.HasSuffix(head, "(") { // (*T) is a Go type
				head, star = strings.CutSuffix(n, "*")
				end = ""
			}
			if !star {
				whole[n] |= c
				continue
			}
			begins[head] = append(begins[head], pattern{end, c})
			shortest, longest = min(shortest, len(head)), max(longest, len(head))
		}
	}
	of := make([]class, rec.Functions.Len())
	for i := range of {
		f := rec.Functions.At(i)
		name := f.Name
		if at := strings.IndexByte(name, '('); at > 0 && name[len(name)-1] == ')' && !strings.Contains(name, "(*") { // cut the parameters off
			name = name[:at]
		}
		name = strings.TrimPrefix(name, "__GI_") // glibc's own calls of its public functions
		of[i] = whole[f.Name] | whole[name]
		for n := shortest; n <= min(longest, len(name)); n++ {
			for _, p := range begins[name[:n]] {
				if strings.HasSuffix(name[n:], p.end) {
					of[i] |= p.is
				}
			}
		}
		if isUnnamed(f) && strings.HasPrefix(path.Base(f.Module), "libgcc_s.") { // little else than the unwinder
			of[i] |= throwing
		}
		if of[i]&joining != 0 {
			of[i] |= idling
		}
		if f.Kind == recording.KindKernel {
			of[i] |= inKernel
		}
	}
	return of
}

// locks returns the classes of functions that wait for locks.
func (l *look) locks() class {
	if l.weights == nil || l.sampled() {
		return locking
	}
	return locking | asking
}
