package script

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"harness"
)

// position is where in a script a turn stands: the op that comes next, and how
// often each repeat around it has been played.
type position struct {
	number int // of the turn, among those of the conversation that recorded a position
	pc     int
	loops  []int64
	turn   harness.TurnID
}

// String is the engine's checkpoint: script:NUMBER:OP[.COUNT…]:TURN.
func (p position) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "script:%d:%d", p.number, p.pc)
	for _, n := range p.loops {
		fmt.Fprintf(&b, ".%d", n)
	}
	b.WriteString(":" + string(p.turn))
	return b.String()
}

func parsePosition(ref string) (position, error) {
	f := strings.SplitN(ref, ":", 4)
	if len(f) != 4 || f[0] != "script" {
		return position{}, errors.New("not a position in a script")
	}
	number, err := strconv.Atoi(f[1])
	if err != nil || number < 1 {
		return position{}, errors.New("no turn number in the position")
	}
	p := position{number: number, turn: harness.TurnID(f[3])}
	for i, s := range strings.Split(f[2], ".") {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 0 || n > maxRepeat {
			return position{}, errors.New("no command in the position")
		}
		if i == 0 {
			p.pc = int(n)
		} else {
			p.loops = append(p.loops, n)
		}
	}
	return p, nil
}

// fits reports whether the position is one of this part.
func (p position) fits(ops []op) bool {
	want := 0
	if p.pc < len(ops) {
		want = ops[p.pc].loops
	}
	return p.pc <= len(ops) && len(p.loops) == want
}

// part is what the numbered turn plays.
func (s *Script) part(number int) part { return s.parts[min(number, len(s.parts))-1] }

// locate decides where a turn begins. An error says why the place it should go
// on from is lost; the position is usable nevertheless.
func (s *Script) locate(t harness.Turn) (position, error) {
	first := position{number: 1, turn: t.ID}
	if t.Ref == "" {
		return first, nil
	}
	at, err := parsePosition(t.Ref)
	if err != nil {
		return first, err
	}
	if at.turn != t.ID {
		if !t.Fresh {
			first.number = at.number + 1
		}
		return first, nil
	}
	if !at.fits(s.part(at.number).ops) {
		first.number = at.number
		return first, errors.New("the script has no such position")
	}
	return at, nil
}
