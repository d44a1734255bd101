package script

import "context"

// verb is how a command is read and played. Reading gets the rest of the line;
// playing finds the next op's index in player.pc and may change it.
type verb struct {
	read func(o *op, rest string) error
	play func(p *player, ctx context.Context, o *op) error
}

// verbs is the language, except for end and else, which have no meaning
// without their block.
var verbs = map[string]verb{
	"say":      {readText, (*player).say},
	"type":     {readText, (*player).typeText},
	"stream":   {readStream, (*player).stream},
	"echo":     {readNothing, (*player).echo},
	"pace":     {readDuration, (*player).nothing},
	"think":    {readText, (*player).think},
	"reflect":  {readText, (*player).reflect},
	"response": {readMaybeText, (*player).response},

	"call":    {readCall, (*player).wholeCall},
	"tool":    {readTool, (*player).tool},
	"log":     {readText, (*player).log},
	"result":  {readText, (*player).result},
	"outcome": {readOutcome, (*player).outcome},
	"ask":     {readAsk, (*player).ask},

	"steer":  {readMaybeText, (*player).steer},
	"listen": {readMaybeText, (*player).listen},
	"wait":   {readDuration, (*player).wait},
	"gate":   {readOnlyName, (*player).gate},
	"hang":   {readNothing, (*player).hang},

	"usage":      {readUsage, (*player).usage},
	"step":       {readStep, (*player).step},
	"emit":       {readEmit, (*player).emitAny},
	"checkpoint": {readNothing, (*player).checkpoint},

	"fail":  {readText, (*player).fail},
	"retry": {readText, (*player).retry},

	"repeat": {readRepeat, (*player).repeat},
	"when":   {readWords, (*player).when},
}

// closers are the verbs that end a block or a branch of it.
var closers = map[string]func(p *player, ctx context.Context, o *op) error{
	"end":  (*player).end,
	"else": (*player).orElse,
}
