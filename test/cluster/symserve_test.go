package cluster

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	serveToken   = "6f0c1b2e9d8a47c5b3a1f0e2d4c6b8a9"
	serveModules = 1000 // each is sent twice: with and without lines
	serveLookups = 20000
	serveKills   = 10
)

// module is a module with symbols of two qualities.
type module struct {
	name, id   string
	rich, poor []byte
	sent       atomic.Int32 // how many of the two were acknowledged
}

func (m *module) key() string { return m.name + "/" + m.id + "/" + m.name + ".sym" }

func newModule(i int) *module {
	m := &module{name: fmt.Sprintf("lib%d.so", i), id: fmt.Sprintf("%032X0", i+1)}
	var rich, poor bytes.Buffer
	head := fmt.Sprintf("MODULE Linux x86_64 %s %s\nFILE 0 /src/%d.cc\n", m.id, m.name, i)
	rich.WriteString(head)
	poor.WriteString(head)
	for f := range 100 + i%400 {
		text := fmt.Sprintf("FUNC %x 20 0 module_%d::function_%d(int)\n", 0x1000+f*32, i, f)
		poor.WriteString(text)
		fmt.Fprintf(&rich, "%s%x 20 %d 0\n", text, 0x1000+f*32, f+1)
	}
	m.rich, m.poor = rich.Bytes(), poor.Bytes()
	return m
}

// symserver is a symserve over a bucket, at an address that stays the same when it is killed and started again.
type symserver struct {
	address string
	args    []string
	env     []string
	journal string

	mu   sync.Mutex
	cmd  *exec.Cmd
	most int64 // kB of memory, of all processes
}

func (s *symserver) start(t *testing.T) {
	t.Helper()
	cmd := exec.Command(filepath.Join(programs(t), "symserve"), append([]string{"--listen", s.address, "--journal", s.journal}, s.args...)...)
	cmd.Env = s.env
	out, err := os.OpenFile(s.journal+".log", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stderr = out
	err = cmd.Start()
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.cmd = cmd
	s.mu.Unlock()
	wait(t, s.address)
}

// kill ends the process as a failing machine does, and notes how much memory it had.
func (s *symserver) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	for line := range strings.Lines(string(status)) {
		fields := strings.Fields(line)
		if len(fields) > 1 && fields[0] == "VmHWM:" {
			n, _ := strconv.ParseInt(fields[1], 10, 64)
			s.most = max(s.most, n)
		}
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// random disturbs a twentieth of the requests: the answer is 503, is lost after the work was done, or is cut.
func random(g *gateway) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		switch rand.IntN(60) {
		case 0:
			g.disturbed.Add(1)
			http.Error(w, "", http.StatusServiceUnavailable)
			return true
		case 1:
			g.disturbed.Add(1)
			g.proxy.ServeHTTP(discard{http.Header{}}, r)
			panic(http.ErrAbortHandler)
		case 2:
			g.disturbed.Add(1)
			panic(http.ErrAbortHandler)
		}
		return false
	}
}

// discard is an http.ResponseWriter that drops the answer.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}

// ask makes a request to one of the servers. Status 0 is no answer.
func ask(servers []*symserver, method, path string, body []byte, headers ...string) (status int, header http.Header, text []byte) {
	url := path
	if strings.HasPrefix(path, "/") {
		url = "http://" + servers[rand.IntN(len(servers))].address + path
	}
	req, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, nil
	}
	defer resp.Body.Close()
	text, err = io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil, nil
	}
	return resp.StatusCode, resp.Header, text
}

// send sends symbols by one of the protocols, and returns the status of the last answer.
func send(servers []*symserver, protocol int, m *module, sym []byte) (status int, text []byte) {
	form := func(field string, data []byte) ([]byte, string) {
		var b bytes.Buffer
		w := multipart.NewWriter(&b)
		part, _ := w.CreateFormFile(field, field)
		_, _ = part.Write(data)
		w.Close()
		return b.Bytes(), w.FormDataContentType()
	}
	switch protocol {
	case 0:
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, _ := z.Create(m.key())
		_, _ = w.Write(sym)
		z.Close()
		body, kind := form("symbols.zip", b.Bytes())
		status, _, text = ask(servers, "POST", "/upload/", body, "Auth-Token", serveToken, "Content-Type", kind)
	case 1:
		body, kind := form("symbol_file", sym)
		status, _, text = ask(servers, "POST", "/sym-upload?key="+serveToken, body, "Content-Type", kind)
	case 2:
		status, _, text = ask(servers, "POST", "/v1/uploads:create?key="+serveToken, nil)
		var doc struct{ UploadURL, UploadKey string }
		if status != 200 || json.Unmarshal(text, &doc) != nil {
			return status, text
		}
		path := doc.UploadURL[strings.Index(doc.UploadURL, "/v1/"):]
		status, _, text = ask(servers, "PUT", path, sym)
		if status != 200 {
			return status, text
		}
		body := fmt.Sprintf(`{ symbol_id: {debug_file: "%s", debug_id: "%s" }, symbol_upload_type: "BREAKPAD" }`, m.name, m.id)
		status, _, text = ask(servers, "POST", "/v1/uploads/"+doc.UploadKey+":complete?key="+serveToken, []byte(body))
	case 3:
		sum := md5.Sum(sym)
		body := fmt.Sprintf(`{"files":[{"key":%q,"size":%d,"md5_hash":%q}]}`, m.key(), len(sym), hex.EncodeToString(sum[:]))
		status, _, text = ask(servers, "POST", "/upload/v2/", []byte(body), "Auth-Token", serveToken)
		var doc struct {
			Files []struct{ Action struct{ Type, URL string } }
		}
		if status != 201 || json.Unmarshal(text, &doc) != nil || doc.Files[0].Action.Type == "skip" {
			return status, text
		}
		url := doc.Files[0].Action.URL
		return sendParts(servers, url[strings.Index(url, "/upload/"):], packed(sym))
	}
	return status, text
}

// sendParts sends data in three parts, and asks what has arrived after each failure.
func sendParts(servers []*symserver, path string, data []byte) (status int, text []byte) {
	at := 0
	for range 50 {
		to := min(at+len(data)/3+1, len(data))
		var header http.Header
		status, header, text = ask(servers, "PUT", path, data[at:to], "Content-Range", fmt.Sprintf("bytes %d-%d/%d", at, to-1, len(data)))
		if status != 308 && (status == 0 || status >= 500) {
			time.Sleep(50 * time.Millisecond)
			status, header, text = ask(servers, "PUT", path, nil, "Content-Range", fmt.Sprintf("bytes */%d", len(data)))
		}
		switch {
		case status == 308:
			at = 0
			_, last, ok := strings.Cut(header.Get("Range"), "-")
			if ok {
				n, _ := strconv.Atoi(last)
				at = n + 1
			}
		case status != 0 && status < 500:
			return status, text
		}
	}
	return 0, nil
}

func packed(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(data)
	z.Close()
	return b.Bytes()
}

// traffic is clients that send modules to servers over one store, and look them up.
type traffic struct {
	servers []*symserver
	modules []*module

	retries, uploads, lookups, found atomic.Int64
}

// newTraffic starts two servers over one store.
func newTraffic(t *testing.T, store string, env []string, modules int, args ...string) *traffic {
	t.Helper()
	tokens := filepath.Join(t.TempDir(), "tokens")
	err := os.WriteFile(tokens, []byte("ci upload "+serveToken+"\n"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	c := &traffic{}
	journal := filepath.Join(t.TempDir(), "journal")
	for i := range 2 {
		s := &symserver{address: free(t), args: append([]string{"--tokens", tokens, store}, args...), env: append(env, "TMPDIR="+t.TempDir()), journal: journal + strconv.Itoa(i)}
		s.start(t)
		c.servers = append(c.servers, s)
		t.Cleanup(s.kill)
	}
	for i := range modules {
		c.modules = append(c.modules, newModule(i))
	}
	return c
}

// run sends both files of all modules, and looks up a number of them meanwhile. What was acknowledged has to be there from
// then on, and every answer is a whole file. It returns the time of the uploads.
func (c *traffic) run(t *testing.T, lookups int) (sent time.Duration) {
	var senders, readers sync.WaitGroup
	next := atomic.Int64{}
	began := time.Now()
	for range 8 {
		senders.Go(func() {
			for n := int(next.Add(1) - 1); n < 2*len(c.modules); n = int(next.Add(1) - 1) {
				// Both qualities of a module are under way at about the same time.
				m, sym := c.modules[n/2], c.modules[n/2].poor
				if n%2 == 1 {
					sym = m.rich
				}
				c.send(t, n/2%4, m, sym)
			}
		})
	}
	for range 8 {
		readers.Go(func() {
			for c.lookups.Add(1) <= int64(lookups) {
				m := c.modules[rand.IntN(min(int(next.Load())/2+10, len(c.modules)))]
				before := m.sent.Load()
				status, _, text := ask(c.servers, "GET", "/"+m.key(), nil)
				switch {
				case status == 200:
					c.found.Add(1)
					if !bytes.Equal(text, m.rich) && (before == 2 || !bytes.Equal(text, m.poor)) {
						t.Errorf("%s: %d bytes, which are neither %d nor %d; %d were acknowledged", m.key(), len(text), len(m.rich), len(m.poor), before)
					}
				case status == 404 && before > 0:
					t.Errorf("%s: 404 after %d were acknowledged", m.key(), before)
				case status != 404 && status != 0 && status != 503:
					t.Errorf("%s: %d %s", m.key(), status, text)
				}
			}
		})
	}
	senders.Wait()
	sent = time.Since(began)
	readers.Wait()
	return sent
}

// send sends a file by a protocol until a server has it.
func (c *traffic) send(t *testing.T, protocol int, m *module, sym []byte) {
	for try := 0; ; try++ {
		status, text := send(c.servers, protocol, m, sym)
		if status == 200 || status == 201 || status == 409 {
			m.sent.Add(1)
			c.uploads.Add(1)
			return
		}
		if status != 0 && status < 500 && status != 404 || try > 100 {
			t.Errorf("%s: %d %s", m.key(), status, text)
			return
		}
		c.retries.Add(1)
		time.Sleep(50 * time.Millisecond)
	}
}

// compare wants the better file of each module at each server.
func (c *traffic) compare(t *testing.T) {
	t.Helper()
	for _, m := range c.modules {
		for i := range c.servers {
			status, _, text := ask(c.servers[i:i+1], "GET", "/"+m.key(), nil)
			if status != 200 || !bytes.Equal(text, m.rich) {
				t.Errorf("server %d: %s: %d, %d bytes, want %d", i, m.key(), status, len(text), len(m.rich))
			}
		}
	}
}

// TestSymserve: two servers over one bucket, whose network fails at random, are killed again and again while clients send
// 2,000 files by four protocols and look up 20,000. What was acknowledged is there from then on, every answer is a whole
// file, and in the end the bucket has the better file of each module.
func TestSymserve(t *testing.T) {
	g := start(t)
	g.setDisturb(random(g))
	c := newTraffic(t, "s3://"+bucket+"/prod", g.env(), serveModules)
	done, killed := make(chan struct{}), make(chan int, 1)
	go func() {
		n := 0
		defer func() { killed <- n }()
		for n < serveKills {
			select {
			case <-done:
				return
			case <-time.After(time.Duration(1500+rand.IntN(1500)) * time.Millisecond):
			}
			s := c.servers[n%2]
			s.kill()
			s.start(t)
			n++
		}
	}()
	began := time.Now()
	sent := c.run(t, serveLookups)
	took := time.Since(began)
	close(done)
	kills := <-killed

	g.setDisturb(nil)
	c.compare(t)
	symbols := 0
	err := filepath.WalkDir(filepath.Join(g.dir, bucket, "prod"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == ".symkit" {
			return fs.SkipDir
		}
		if err == nil && d.Type().IsRegular() {
			symbols++
			if !strings.HasSuffix(path, ".sym") {
				t.Errorf("an object that is no symbol file: %s", path)
			}
		}
		return err
	})
	if err != nil || symbols != serveModules {
		t.Errorf("%d symbol files, want %d; %v", symbols, serveModules, err)
	}
	for _, s := range c.servers {
		s.kill()
		t.Logf("%s: at most %d MB", s.address, s.most/1024)
	}
	t.Logf("%d uploads in %v, repeated %d times; %d lookups in %v, %d found; %d kills; %d of %d requests to the bucket disturbed", c.uploads.Load(), sent.Round(time.Second),
		c.retries.Load(), serveLookups, took.Round(time.Second), c.found.Load(), kills, g.disturbed.Load(), g.requests.Load())
	if kills != serveKills {
		t.Errorf("%d kills, want %d", kills, serveKills)
	}
}
