package main

import "strings"

// A dso is a binary that functions are in.
type dso struct {
	name, buildID string
	base          int64
	kernel        bool
}

var dsos = []dso{
	{"/srv/checkout/bin/checkout", "6b1f0e7a52c94d3f8e20c7d1a4b95863f07d2e11", 0x401000, false},
	{"[kernel.kallsyms]", "91c4d8e27fa0b3651e8c42d97b06f5a3c8d1407e", -0x7f000000, true},
	{"/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "d04e83b7c19f526aa8f3177be05c942d6681fb3a", 0x7f3a10c00000, false},
	{"/usr/lib/x86_64-linux-gnu/libc.so.6", "2f97c60b8ad14e53b0c7e81f69d425ba03e8d97c", 0x7f3a0f800000, false},
}

const (
	checkout = iota
	kernel
	libcrypto
	libc
)

// kernelFunctions, cryptoFunctions and libcFunctions list the functions that are not Go.
var (
	kernelFunctions = words(`entry_SYSCALL_64 do_syscall_64 ksys_read ksys_write vfs_read vfs_write ext4_file_read_iter
		copy_page_to_iter sock_read_iter sock_write_iter tcp_recvmsg tcp_sendmsg tcp_write_xmit __ip_queue_xmit _copy_from_iter
		do_futex futex_wait do_epoll_wait ep_poll ep_send_events __x64_sys_madvise zap_page_range_single unmap_page_range
		asm_exc_page_fault exc_page_fault handle_mm_fault clear_page_erms
		asm_sysvec_apic_timer_interrupt sysvec_apic_timer_interrupt __irq_exit_rcu handle_softirqs`)
	cryptoFunctions = words(`EVP_DigestSign EVP_DigestInit_ex EVP_MD_fetch ECDSA_sign ecp_nistz256_point_mul ecp_nistz256_mul_mont
		ecp_nistz256_sqr_mont bn_mod_inverse CRYPTO_THREAD_read_lock`)
	libcFunctions = words(`malloc memcpy`)
	// inlined lists the functions that the compiler inlines.
	inlined = words(`runtime.spanOf runtime.markBits.setMarked shop/pricing.roundHalfEven shop/pricing.byPriority.Less
		regexp.(*bitState).shouldVisit regexp.(*bitState).push encoding/json.stateInString shop/catalog.(*Product).key
		strings.(*Builder).Grow compress/flate.(*decompressor).huffSym reflect.Value.Field`)
)

func words(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}

func dsoOf(name string) int {
	switch {
	case kernelFunctions[name]:
		return kernel
	case cryptoFunctions[name]:
		return libcrypto
	case libcFunctions[name]:
		return libc
	}
	return checkout
}

// sourceOf makes up the source file of a Go function: the package's folder, and a file
// named after the type or the function. Other functions have none.
func sourceOf(name string) string {
	if dsoOf(name) != checkout {
		return ""
	}
	slash := strings.LastIndexByte(name, '/') + 1
	dot := slash + strings.IndexByte(name[slash:], '.')
	pkg, what := name[:dot], name[dot+1:]
	what, _, _ = strings.Cut(strings.TrimPrefix(what, "(*"), ")")
	what, _, _ = strings.Cut(what, ".")
	return pkg + "/" + strings.ToLower(what) + ".go"
}
