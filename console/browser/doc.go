// Package browser has the tests of the console in a real browser: the server's
// own binary, the committed page, Chromium. Every page must load without an
// error on its console and without a violation of the content policy.
//
// Screenshots are artefacts: go test -artifacts -outputdir DIR ./console/browser
// keeps them; without -artifacts none is painted.
package browser
