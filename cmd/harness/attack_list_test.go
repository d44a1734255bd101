package main

import (
	"go/ast"
	"go/parser"
	source "go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// What an attack of the list leaves in the audit.
const (
	aLine   = "one line: it is refused"
	none    = "none: there is nothing to refuse" // it is shown, kept or run as what it is, or not looked at
	both    = "one line for each that is refused, none for each that is not"
	nowhere = "none: nobody asks the server for it" // a file, an agent, a runner or another process does it; it is told in the session's log, on standard error, or by the system
)

// attacks is the list: what each is, what it leaves, and the tests that make it.
// A test without a folder is one of this package.
var attacks = []struct {
	what, leaves string
	tests        string
}{
	1:  {"a WebSocket without a token", aLine, "TestAttacksBeforeAnybodyIsKnown"},
	2:  {"of another site's page", aLine, "TestAttacksBeforeAnybodyIsKnown TestPagesOfOtherOriginsCannotUseABrowserThatIsLoggedIn"},
	3:  {"of a page of nowhere", aLine, "TestAttacksBeforeAnybodyIsKnown"},
	4:  {"of a rebound name", aLine, "TestAttacksBeforeAnybodyIsKnown TestPagesOfOtherOriginsCannotUseABrowserThatIsLoggedIn"},
	5:  {"of another port's page", aLine, "TestAttacksBeforeAnybodyIsKnown TestPagesOfOtherOriginsCannotUseABrowserThatIsLoggedIn"},
	6:  {"of an origin that looks like ours", aLine, "TestAttacksBeforeAnybodyIsKnown"},
	7:  {"odd hosts", aLine, "TestAttacksBeforeAnybodyIsKnown TestOddHeadsReachNothing gateway:TestOddHosts"},
	8:  {"odd credentials", aLine, "TestAttacksBeforeAnybodyIsKnown TestStrangersAreAnsweredAlikeEverywhere"},
	9:  {"almost the token", aLine, "TestAttacksBeforeAnybodyIsKnown TestOddHeadsReachNothing gateway:TestNothingLikeATokenIsOne"},
	10: {"many wrong tokens", aLine, "TestAHundredThousandFailuresChangeNothing gateway:TestFailuresAreThrottledNotTheRight"},
	11: {"a login code again", aLine, "TestNextIsAlwaysOnThisServer gateway:TestTimesOfALogin"},
	12: {"a login that leads elsewhere", none, "TestNextIsAlwaysOnThisServer gateway:TestNextIsOnThisServer"},
	13: {"a form of another site", aLine, "TestAttacksBeforeAnybodyIsKnown TestPagesOfOtherOriginsCannotUseABrowserThatIsLoggedIn"},
	14: {"a cookie from elsewhere", aLine, "TestAttacksBeforeAnybodyIsKnown"},
	15: {"looking that changes something", both, "TestLookingChangesNothing"},
	16: {"every route, as a stranger", aLine, "TestStrangersAreAnsweredAlikeEverywhere TestEveryRouteIsClosedButThoseThatMustBeOpen TestStrangersLearnNothingOfTheServer"},
	17: {"a preflight", aLine, "TestAttacksBeforeAnybodyIsKnown"},
	18: {"forged tokens of a provider", aLine, "TestForgedTokensLeadNowhere TestStrangersAreAnsweredAlikeEverywhere gateway:TestForgedTokensAreRefused"},
	19: {"another user's session", aLine, "TestNeitherUserFindsTheOther TestOutsideItsPlacesAScopeFindsNothing"},
	20: {"more than one's role", aLine, "TestEveryRoleHasItsVerbsAndNoMore TestRolesHoldOnEveryProtocol TestAScopeHoldsOnEveryProtocol"},
	21: {"what a client says of itself", both, "TestWhatAClientSaysOfItselfIsIgnored TestAttacksBeforeAnybodyIsKnown"},
	22: {"an answer to no question", aLine, "TestAnswersToNoQuestionDecideNothing TestAnAnswerThatComesTooLateDecidesNothing"},
	23: {"other arguments under an approval", nowhere, "kernel:TestAQuestionEndsWhenItsArgumentsChange kernel:TestAnApprovalIsForItsArgumentsOnly"},
	24: {"two decisions at once", aLine, "TestOneOfTwoDecisionsWins"},
	25: {"words that look like decisions", none, "TestWordsAreNotCommands TestWhatTheAgentSaysIsText TestAnEngineCannotDecideForPeople"},
	26: {"a mode that policy forbids", aLine, "TestAnOperatorCannotTrust"},
	27: {"ids that are none", aLine, "TestNamesThatAreNoneReachNoFile"},
	28: {"directories elsewhere", aLine, "TestSessionsWorkOnlyWhereTheyMay"},
	29: {"files that were edited", nowhere, "store/jsonl:TestDamageInTheMiddleQuarantinesOneThread store/jsonl:TestIdsThatAreNoFileNamesAreRefused store/jsonl:TestADirectoryOfAnotherThreadIsNotTaken store/jsonl:TestATornCommitIsCutWhole TestADamagedSessionSaysSoAndOthersWork"},
	30: {"a link that is swapped in time", nowhere, "sandbox/local:TestSandbox sandbox/bwrap:TestSandbox sandbox/landlock:TestSandbox workspace/folder:TestNoCallFollowsALinkOrTakesAPath"},
	31: {"what is no file", nowhere, "sandbox/local:TestSandbox workspace:TestSpecialFilesAreSkippedAndNeverWaitedFor tool:TestReadOfHugeFilesIsBounded"},
	32: {"a hard link", nowhere, "sandbox/local:TestSandbox sandbox/bwrap:TestSandbox sandbox/landlock:TestSandbox"},
	33: {"a repository that names programs", none, "TestARepositorysProgramsNeverRunOutsideASandbox"},
	34: {"a repository that configures", none, "TestAWorkspaceConfiguresNothing"},
	35: {"frames without end", aLine, "TestFramesThatNoClientSends TestEveryLimitIsMetExactly TestAMessageThatDripsIsCutOff protocol/delta:TestAMessageThatDripsEndsWith1008 internal/socket:TestAMessageThatDripsIsCutOff"},
	36: {"texts with two meanings", aLine, "TestTextsWithTwoMeaningsAreRefused TestNineMegabytesOfNothing"},
	37: {"frames that are none", aLine, "TestFramesThatNoClientSends"},
	38: {"a flood", aLine, "TestAFloodHurtsOnlyItsSender TestAClientThatOnlyTalksHurtsOnlyItself TestCommandsOfAUserAreBounded TestConnectionsOfAUserAreBounded TestSessionsOfAUserAreBounded"},
	39: {"slowness", aLine, "TestWhoSendsSlowlyIsCutOff TestASlowBodyIsCutOff gateway:TestWhoIsSlowIsCutOff gateway:TestAPeerThatVanishesIsNoticed"},
	40: {"odd calls", aLine, "TestOddCallsAreAnswered"},
	41: {"a runner that lies", nowhere, "engine/remote:TestARunnerThatBreaksTheProtocolEndsItsTurnWithOneError engine/remote:TestAnAnswerThatIsNoStreamOfEventsIsRefused"},
	42: {"a runner elsewhere", nowhere, "protocol/runner:TestTheGuardLetsOnlyTheConfiguredRunnerThrough"},
	43: {"the way out of a sandbox", nowhere, "egress:TestAttacks"},
	44: {"the walls of a sandbox", nowhere, "sandbox:TestEverySandboxKeepsItsPromisesHere sandbox/local:TestSandbox sandbox/bwrap:TestSandbox sandbox/landlock:TestSandbox"},
	45: {"bombs in a sandbox", nowhere, "sandbox:TestEverySandboxKeepsItsPromisesHere sandbox/bwrap:TestSandbox"},
	46: {"a sandbox that is missing", nowhere, "TestARequiredSandboxThatIsMissingRunsNothing"},
	47: {"text that wants to be a page", nowhere, "console/browser:TestHostileTextIsText"},
	48: {"text that steers a terminal", nowhere, "TestNeitherModelNorToolSteersTheTerminal TestNothingStoredSteersTheTerminal"},
	49: {"text that forges a log", both, "TestALogLineCannotBeForged TestTheAuditSaysWhoAndWhy gateway:TestALineCannotBeForged"},
	50: {"a secret that wants to be told", nowhere, "TestCanary TestCanaryOfALocalThread"},
	51: {"an archive that unpacks badly", aLine, "TestAHostileImportIsRefused TestNothingHereUnpacksArchives archive/transcript:TestAHostileTranscriptCostsWhatItsSizeSays artifact:TestNoNameLeavesTheDirectory"},
	52: {"a port that stdio opens", nowhere, "TestOnlyServeListens"},
	53: {"an open server", nowhere, "TestAServerThatOthersReachIsNotStartedOpen"},
	54: {"another user of the machine", nowhere, "TestNoOtherUserReadsAnything"},
	55: {"a console of another server", none, "TestPagesOfOtherOriginsCannotUseABrowserThatIsLoggedIn"},
}

// TestEveryAttackOfTheListIsMade: the list is whole, and its tests are there.
func TestEveryAttackOfTheListIsMade(t *testing.T) {
	t.Parallel()
	if len(attacks) != 56 {
		t.Errorf("the list has %d attacks", len(attacks)-1)
	}
	text := map[string]string{} // of the tests of a folder
	for n, a := range attacks[1:] {
		if a.tests == "" {
			t.Errorf("attack %d is not made", n+1)
		}
		for name := range strings.FieldsSeq(a.tests) {
			folder, test, ok := strings.Cut(name, ":")
			if !ok {
				folder, test = "cmd/harness", name
			}
			if text[folder] == "" {
				files, _ := filepath.Glob(filepath.Join("../..", folder, "*_test.go")) // the pattern is ours
				for _, file := range files {
					b, err := os.ReadFile(file)
					if err != nil {
						t.Fatal(err)
					}
					text[folder] += string(b)
				}
			}
			if !strings.Contains(text[folder], "\nfunc "+test+"(t ") {
				t.Errorf("attack %d, %s: %s has no %s", n+1, a.what, folder, test)
			}
		}
	}
}

// TestAttacksAreHeldToWhatTheyLeave: what the list says of the audit is checked by
// a test of this package that it names, with one of those that look there. That
// they did when they ran is what attacked tells at the end of the run.
func TestAttacksAreHeldToWhatTheyLeave(t *testing.T) {
	t.Parallel()
	calls := callsOfTests(t)
	for n, a := range attacks[1:] {
		var counts, quiet bool // some test wants lines; some test wants none
		for name := range strings.FieldsSeq(a.tests) {
			called := reached(calls, name)
			for _, helper := range []string{"refused", "oddly", "bounded", "lines"} {
				counts = counts || called[helper]
			}
			for _, helper := range []string{"harmless", "oddly", "refusals"} {
				quiet = quiet || called[helper]
			}
		}
		switch {
		case a.leaves == aLine && !counts:
			t.Errorf("attack %d, %s: no test wants a line of it", n+1, a.what)
		case a.leaves == both && !(counts && quiet):
			t.Errorf("attack %d, %s: refused is checked: %t, harmless is: %t", n+1, a.what, counts, quiet)
		case a.leaves == none && !quiet:
			t.Errorf("attack %d, %s: no test wants the audit silent", n+1, a.what)
		case a.leaves == nowhere && (counts || quiet):
			t.Errorf("attack %d, %s: the server is asked for it after all", n+1, a.what)
		}
	}
}

// callsOfTests is which functions and methods each function of this package's
// tests calls. Those of the same name are one.
func callsOfTests(t testing.TB) map[string]map[string]bool {
	t.Helper()
	files, _ := filepath.Glob("*_test.go") // the pattern is ours
	calls := map[string]map[string]bool{}
	for _, file := range files {
		f, err := parser.ParseFile(source.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if calls[fn.Name.Name] == nil {
				calls[fn.Name.Name] = map[string]bool{}
			}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				switch f := call.Fun.(type) {
				case *ast.Ident:
					calls[fn.Name.Name][f.Name] = true
				case *ast.SelectorExpr:
					calls[fn.Name.Name][f.Sel.Name] = true
				}
				return true
			})
		}
	}
	return calls
}

// reached is what a function calls, and what those call.
func reached(calls map[string]map[string]bool, name string) map[string]bool {
	all := map[string]bool{}
	var visit func(string)
	visit = func(name string) {
		for next := range calls[name] {
			if !all[next] {
				all[next] = true
				visit(next)
			}
		}
	}
	visit(name)
	return all
}

// TestNothingHereUnpacksArchives: the binary knows no form of file that has
// other files in it, and compresses only what it wrote itself: objects of
// snapshots, and the console's own files.
func TestNothingHereUnpacksArchives(t *testing.T) {
	t.Parallel()
	may := map[string]string{"compress/gzip": "console", "github.com/klauspost/compress/zstd": "workspace/object"}
	root := "../.."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || d.Name() == "bench" || d.Name() == ".git"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(source.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		for _, i := range f.Imports {
			name, _ := strconv.Unquote(i.Path.Value) // it was parsed
			if unpacks(name) && may[name] != filepath.ToSlash(folder) {
				t.Errorf("%s imports %s", path, name)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func unpacks(path string) bool {
	return strings.HasPrefix(path, "archive/") || strings.HasPrefix(path, "compress/") || strings.Contains(path, "/compress") || strings.Contains(path, "archive/zip")
}
