package tool_test

import (
	"encoding/json"
	"slices"
	"testing"

	"harness/tool"
)

func TestWritesAreTheFilesThatACallNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tool, input string
		want        []string
	}{
		{"write", `{"path":" a.txt "}`, []string{"a.txt"}},
		{"Edit", `{"file_path":"/etc/passwd"}`, []string{"/etc/passwd"}},
		{"read", `{"path":"a.txt"}`, nil},
		{"write", `[`, nil},
		{"patch", `{"path":"x","diff":"--- a/y\n+++ b/y\n"}`, []string{"x"}},
		{"patch", `{"diff":"--- a/../../y\n+++ b/../../y\n@@ -1 +1 @@\n-a\n+b\n"}`, []string{"../../y"}},
		{"patch", `{"diff":"--- /dev/null\n+++ /etc/cron.d/x\n@@ -0,0 +1 @@\n+b\n"}`, []string{"/etc/cron.d/x"}},
	} {
		if got := tool.Writes(c.tool, json.RawMessage(c.input)); !slices.Equal(got, c.want) {
			t.Errorf("%s %s: %q, want %q", c.tool, c.input, got, c.want)
		}
	}
	for _, c := range []struct {
		line string
		want []string
	}{
		{"echo hi > a.txt", []string{"a.txt"}},
		{"make >build.log 2>&1 </dev/null", []string{"build.log"}},
		{"cat < in >> /tmp/out; ls 2>/dev/null", []string{"/tmp/out"}},
		{"make &> ../log", []string{"../log"}},
		{"cat > /etc/x <<EOF\n> no\nEOF", []string{"/etc/x"}},
		{"echo 'a > b' | tee -a ~/.bashrc other", []string{"~/.bashrc", "other"}},
		{"cp -r a b ../c", []string{"../c"}},
		{"cp -t /opt a b", []string{"/opt"}},
		{"cp --target-directory=/opt a b", []string{"/opt"}},
		{"mv ../old new", []string{"../old", "new"}},
		{"sed -i 's/a/b/' x y", []string{"x", "y"}},
		{"sed 's/a/b/' x", nil},
		{"sed -i -e A -e B f", []string{"f"}},
		{"sed -n -i.bak --expression=A f", []string{"f"}},
		{"sed -i -f script f", []string{"f"}},
		{"perl -pi -e 's/a/b/' ../out.txt", []string{"../out.txt"}},
		{"perl -i.e -pe 's/a/b/' x y", []string{"x", "y"}},
		{"perl -i script.pl x", []string{"x"}},
		{"(cd .. && touch q); touch r", []string{"../q", "r"}},
		{"echo $(cd ..; touch q) | tee r", []string{"../q", "r"}},
		{"cd .. | cat; touch r", []string{"r"}},
		{"cd .. & touch r", []string{"r"}},
		{"sh -c 'cd ..; touch q'; touch r", []string{"../q", "r"}},
		{"eval 'cd ..'; touch r", []string{"../r"}},
		{"{ cd ..; touch q; }; touch r", []string{"../q", "../r"}},
		{"dd if=/dev/zero of=/dev/sda", []string{"/dev/sda"}},
		{"chmod 600 /etc/ssh/config", []string{"/etc/ssh/config"}},
		{"cd sub && touch a; cd ..; touch ../b", []string{"sub/a", "../b"}},
		{"cd /etc; echo > hosts", []string{"/etc/hosts"}},
		{"cd $D; touch a; touch /x", []string{"/x"}},
		{"sudo rm -rf /var/lib/x", []string{"/var/lib/x"}},
		{"bash -c 'echo > /etc/motd'", []string{"/etc/motd"}},
		{"for f in a b; do echo > out/$f; done; if true; then mkdir -p d; fi", []string{"d"}},
		{"curl -fsSo /usr/local/bin/x https://example.com", []string{"/usr/local/bin/x"}},
		{"curl -fsS https://example.com; wget -qO- https://example.com; wget -O - x", nil},
		{"tar -czf ../a.tar .", []string{"../a.tar"}},
		{"curl -o /usr/local/bin/x https://example.com", []string{"/usr/local/bin/x"}},
		{"tar -xf a.tar -C /opt", []string{"/opt"}},
		{"tar xf a.tar -C ../x", []string{"../x"}},
		{"tar xfz a.tar -C ../x", []string{"../x"}},
		{"tar cfz ../a.tar .", []string{"../a.tar"}},
		{"grep -o x a; echo $(touch in-it)", []string{"in-it"}},
		{"echo 'half", nil},
	} {
		input, err := json.Marshal(map[string]string{"command": c.line})
		if err != nil {
			t.Fatal(err)
		}
		if got := tool.Writes("bash", input); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.line, got, c.want)
		}
	}
	if got := tool.Writes("bash", json.RawMessage(`{"command":"touch ../a","directory":"sub/dir"}`)); !slices.Equal(got, []string{"sub/a"}) {
		t.Errorf("in a directory: %q", got)
	}
}
