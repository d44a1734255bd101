package egress_test

import (
	"net/netip"
	"testing"

	"harness/egress"
)

func TestAddressesOfTheInsideAreRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{ // never, private or public
		"127.0.0.1": "never", "127.255.255.254": "never", "0.0.0.0": "never", "0.1.2.3": "never",
		"10.0.0.1": "private", "172.16.0.1": "private", "172.31.255.255": "private", "192.168.1.1": "private",
		"169.254.169.254": "never", "169.254.0.1": "never",
		"100.64.0.1": "private", "100.127.255.255": "private", "100.63.255.255": "public", "100.128.0.1": "public",
		"224.0.0.1": "never", "239.255.255.250": "never", "255.255.255.255": "never", "240.0.0.1": "never",
		"192.0.0.8": "never", "192.0.2.1": "never", "198.18.0.1": "never", "198.19.255.255": "never", "198.51.100.7": "never", "203.0.113.7": "never", "192.88.99.1": "never",
		"172.15.255.255": "public", "172.32.0.1": "public", "11.0.0.1": "public", "8.8.8.8": "public", "1.1.1.1": "public", "160.79.104.10": "public", "198.20.0.1": "public",

		"::": "never", "::1": "never", "::ffff:127.0.0.1": "never", "::ffff:8.8.8.8": "never", "::127.0.0.1": "never", "::8.8.8.8": "never",
		"fe80::1": "never", "fe80::1%eth0": "never", "2606:4700::1%eth0": "never", "febf::1": "never", "fec0::1": "never",
		"fc00::1": "private", "fd12:3456::1": "private", "fd00:ec2::254": "private",
		"ff02::1": "never", "ff0e::1": "never",
		"64:ff9b::7f00:1": "never", "64:ff9b::808:808": "never", "64:ff9b:1::a00:1": "never",
		"2002:7f00:1::": "never", "2002:808:808::1": "never", "2001:0:4136:e378::1": "never", "2001::1": "never",
		"2001:db8::1": "never", "2001:10::1": "never", "2001:20::1": "never", "3fff::1": "never", "100::1": "never", "5f00::1": "never", "4000::1": "never",
		"2001:4860:4860::8888": "public", "2606:4700:4700::1111": "public", "2a00:1450::1": "public", "2600::": "public",
	} {
		got := "never"
		if egress.CheckAddress(netip.MustParseAddr(text), true) == nil {
			got = "private"
		}
		if egress.CheckAddress(netip.MustParseAddr(text), false) == nil {
			got = "public"
		}
		if got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
	if egress.CheckAddress(netip.Addr{}, true) == nil {
		t.Error("no address at all is allowed")
	}
}

func TestNamesAreReadInOneWay(t *testing.T) {
	t.Parallel()
	list := []string{"example.com", "*.Wild.example", "xn--mnchen-3ya.example", "*.deep.a.example"}
	for name, want := range map[string]bool{
		"example.com": true, "EXAMPLE.Com": true, "www.example.com": false, "example.com.": false, ".example.com": false, "example..com": false,
		"a.wild.example": true, "a.b.wild.example": true, "A.WILD.EXAMPLE": true, "wild.example": false, "awild.example": false, "wild.example.evil.com": false,
		"xn--mnchen-3ya.example": true, "xn--80ak6aa92e.wild.example": false, "a.xn--80ak6aa92e.wild.example": false, "münchen.example": false,
		"exampl\u212a.com": false, "K.wild.example": true, "\u212a.wild.example": false,
		"a\x00.wild.example": false, "a%00.wild.example": false, "a b.wild.example": false, "a\n.wild.example": false, "a_b.wild.example": false, "a/b.wild.example": false, "a@wild.example": false,
		"-a.wild.example": false, "a-.wild.example": false, "a-b.wild.example": true, "１.wild.example": false, "a\u3002wild.example": false,
		"": false, "localhost": false, "127.0.0.1": false, "0x7f.1": false, "2130706433": false, "[::1]": false, "1.wild.example": true,
	} {
		plain, ok := egress.PlainName(name)
		if ok {
			var err error
			if ok, err = egress.Allow(list, plain); err != nil {
				t.Fatal(err)
			}
		}
		if ok != want {
			t.Errorf("%q: %v, want %v", name, ok, want)
		}
	}
	for _, bad := range []string{"", "*", "*.com", "com", "a.*.com", "*a.com", "10.0.0.1", "::1", "a b.com", "example.com:443", "https://example.com", "example.com."} {
		if _, err := egress.Allow([]string{bad}, "x.y"); err == nil {
			t.Errorf("the list may have %q", bad)
		}
	}
}
