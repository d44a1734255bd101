//go:build linux

package seccomp

import "golang.org/x/sys/unix"

// program is a BPF program under construction.
type program []unix.SockFilter

func (b *program) load(offset uint32) {
	*b = append(*b, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset})
}

func (b *program) ret(answer uint32) {
	*b = append(*b, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: answer})
}

// when jumps over yes or no instructions.
func (b *program) when(op uint16, k uint32, yes, no uint8) {
	*b = append(*b, unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, Jt: yes, Jf: no, K: k})
}

// answer returns answer if the loaded word compares with k.
func (b *program) answer(op uint16, k uint32, answer uint32) {
	b.when(op, k, 0, 1)
	b.ret(answer)
}

// call adds what to do with the call nr; if that does not answer, the call is
// allowed.
func (b *program) call(nr uint32, what func(*program)) {
	var body program
	what(&body)
	body.ret(allow)
	b.when(unix.BPF_JEQ, nr, 0, uint8(len(body)))
	*b = append(*b, body...)
}
