package main

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"
)

// certificates is a certificate in files, which are read again when they change: certificates end after some weeks, and
// the programs that renew them replace the files.
type certificates struct {
	cert, key string
	log       func(error) // gets the reason for which new files cannot be read

	mu     sync.Mutex
	loaded *tls.Certificate
	of     [2]time.Time // of the files
	asked  time.Time
}

// often is the time between two looks at the files, of which one may be replaced just before the other one.
const often = 10 * time.Second

func newCertificates(cert, key string, log func(error)) (*certificates, error) {
	c := &certificates{cert: cert, key: key, log: log}
	return c, c.load()
}

// load reads the files if they have changed.
func (c *certificates) load() error {
	var now [2]time.Time
	for i, path := range []string{c.cert, c.key} {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		now[i] = info.ModTime()
	}
	if c.loaded != nil && now == c.of {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return fmt.Errorf("--tls-cert %s, --tls-key %s: %w", c.cert, c.key, err)
	}
	c.loaded, c.of = &pair, now
	return nil
}

// get implements tls.Config.GetCertificate. While new files cannot be read, the last certificate counts.
func (c *certificates) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.asked) > often {
		c.asked = time.Now()
		err := c.load()
		if err != nil {
			c.log(fmt.Errorf("the certificate that was read last counts: %w", err))
		}
	}
	return c.loaded, nil
}
