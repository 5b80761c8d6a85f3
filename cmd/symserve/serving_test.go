package main

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"symkit/test/programtest"
)

// certificate writes a certificate for this machine, and its key, and returns the paths and the certificate.
func certificate(t *testing.T, dir string, number int64) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(number), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	cert = programtest.Write(t, filepath.Join(dir, "cert.pem"), text)
	key = programtest.Write(t, filepath.Join(dir, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
	for _, path := range []string{cert, key} {
		err := os.Chtimes(path, time.Time{}, time.Now().Add(time.Duration(number)*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
	}
	pool = x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		t.Fatal("no certificate")
	}
	return cert, key, pool
}

// TestTLS: symbols by HTTPS with a certificate in files. A key that is none is an error at the start.
func TestTLS(t *testing.T) {
	cert, key, pool := certificate(t, t.TempDir(), 1)
	s := start(t, "--tls-cert", cert, "--tls-key", key, t.TempDir())
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	defer client.CloseIdleConnections()
	resp, err := client.Get(s.url + "/healthz")
	if err != nil || resp.StatusCode != http.StatusOK || !strings.HasPrefix(s.url, "https://") {
		t.Fatalf("%s: %v, %+v", s.url, err, resp)
	}
	resp.Body.Close()
	program.Messages(t, "symserve: error: ", map[string]programtest.Message{
		"--tls-cert=" + cert + " --tls-key=" + cert + " " + t.TempDir():      {Code: 1, Want: "--tls-cert " + cert + ", --tls-key " + cert + ": tls: found a certificate rather than a key in the PEM for the private key"},
		"--tls-cert=" + cert + " --tls-key=" + cert + ".none " + t.TempDir(): {Code: 1, Want: "stat " + cert + ".none: no such file or directory"},
	})
}

// TestNewCertificate: new files are read; while they do not belong together, the last certificate counts, and the log has
// the reason.
func TestNewCertificate(t *testing.T) {
	dir := t.TempDir()
	cert, key, _ := certificate(t, dir, 1)
	var logged []string
	c, err := newCertificates(cert, key, func(err error) { logged = append(logged, err.Error()) })
	if err != nil {
		t.Fatal(err)
	}
	number := func() int64 {
		c.asked = time.Time{}
		got, err := c.get(nil)
		if err != nil {
			t.Fatal(err)
		}
		return got.Leaf.SerialNumber.Int64()
	}
	old, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	if got := number(); got != 1 {
		t.Errorf("certificate %d", got)
	}
	_, _, _ = certificate(t, dir, 2)
	if got := number(); got != 2 || len(logged) != 0 {
		t.Errorf("certificate %d, %q", got, logged)
	}
	programtest.Write(t, key, old)
	if got := number(); got != 2 || len(logged) != 1 || !strings.Contains(logged[0], "the certificate that was read last counts: ") {
		t.Errorf("certificate %d, %q", got, logged)
	}
}

// TestUnit: systemd's unit has settings that the program knows, and starts it with them. systemd-analyze judges it where
// it is installed.
func TestUnit(t *testing.T) {
	text, err := os.ReadFile("../../packaging/systemd/symserve.service")
	if err != nil {
		t.Fatal(err)
	}
	var env []string
	command := ""
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), "=")
		switch name {
		case "Environment":
			env = append(env, strings.Fields(value)...)
		case "ExecStart":
			command = value
		}
	}
	dir := t.TempDir()
	for i, set := range env {
		name, value, _ := strings.Cut(set, "=")
		if name == "STORE" && strings.HasPrefix(value, "/var/lib/") {
			env[i] = "STORE=" + dir
		}
		if name == "SYMSERVE_LISTEN" {
			env[i] = "SYMSERVE_LISTEN=127.0.0.1:0" // the port may be in use
		}
	}
	args := strings.Fields(os.Expand(command, func(name string) string {
		for _, set := range env {
			value, ok := strings.CutPrefix(set, name+"=")
			if ok {
				return value
			}
		}
		return ""
	}))
	if len(args) != 2 || args[0] != "/usr/bin/symserve" || args[1] != dir {
		t.Fatalf("%q", args)
	}
	s := startIn(t, env, args[1:]...)
	resp, err := http.Get(s.url + "/healthz")
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%v, %+v", err, resp)
	}
	resp.Body.Close()

	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		return
	}
	root := t.TempDir()
	programtest.Write(t, filepath.Join(root, "usr/bin/symserve"), []byte("#!/bin/sh\n"))
	programtest.Write(t, filepath.Join(root, "etc/systemd/system/symserve.service"), text)
	for _, target := range []string{"sysinit", "basic", "shutdown", "multi-user", "network-online"} {
		programtest.Write(t, filepath.Join(root, "etc/systemd/system", target+".target"), []byte("[Unit]\nDescription="+target+"\n"))
	}
	err = os.Chmod(filepath.Join(root, "usr/bin/symserve"), 0o755)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(analyze, "--root", root, "--man=no", "verify", "symserve.service").CombinedOutput()
	if err != nil || bytes.Contains(out, []byte("symserve.service:")) {
		t.Errorf("%v: %s", err, out)
	}
}
