package debuginfod

import (
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"symkit/internal/address"
	"symkit/internal/limitof"
	"symkit/internal/smallfile"
	"symkit/limits"
)

// FromEnv returns a client with the settings of debuginfod-find(1)'s environment, or nil
// if DEBUGINFOD_URLS names no server. The error names the unusable variable.
func FromEnv() (*Client, error) {
	c := &Client{}
	for server := range strings.FieldsSeq(os.Getenv("DEBUGINFOD_URLS")) {
		if strings.HasPrefix(server, "ima:") {
			continue // a policy for the following servers, in newer clients
		}
		u, err := url.Parse(server)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, fmt.Errorf("DEBUGINFOD_URLS: %w: %q", ErrURL, address.New(server))
		}
		c.URLs = append(c.URLs, server)
	}
	if len(c.URLs) == 0 {
		return nil, nil
	}

	// The cache has a default place, the limits have default values.
	c.Cache = cacheDir()
	return c, c.readLimits()
}

// readLimits reads the numeric variables. Zero or less means no limit.
func (c *Client) readLimits() error {
	timeout, err := number("DEBUGINFOD_TIMEOUT", int64(DefaultTimeout/time.Second))
	if err != nil {
		return err
	}
	maxTime, err := number("DEBUGINFOD_MAXTIME", int64(DefaultMaxTime/time.Second))
	if err != nil {
		return err
	}

	// The time limits are in seconds.
	c.Timeout, c.MaxTime = time.Duration(timeout)*time.Second, time.Duration(maxTime)*time.Second
	c.MaxTotal = bound(limitof.FetchedTotal)
	c.MaxSize, err = number("DEBUGINFOD_MAXSIZE", bound(limitof.FetchedFiles))
	return err
}

// bound returns the default of a limit as a number of bytes.
func bound(x string) int64 { return int64(min(limits.Limits{}.Max(x, 0), math.MaxInt64)) }

// maxSeconds keeps a time.Duration from overflowing.
const maxSeconds = int64(1<<63-1) / int64(time.Second)

// number reads an environment variable, whose default is usual.
func number(name string, usual int64) (int64, error) {
	text := os.Getenv(name)
	if text == "" {
		return usual, nil
	}

	// A number of seconds must fit a time.Duration, a number of bytes need not.
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || name != "DEBUGINFOD_MAXSIZE" && n > maxSeconds {
		return 0, fmt.Errorf("%s: not a number: %q", name, text)
	}
	return max(n, 0), nil
}

// cacheDir returns DEBUGINFOD_CACHE_PATH, or the directory of older clients if it
// exists, or the directory in XDG's cache; empty if there is no home directory.
func cacheDir() string {
	if dir := os.Getenv("DEBUGINFOD_CACHE_PATH"); dir != "" {
		return dir
	}

	// Older clients have their cache in the home directory.
	home, homeErr := os.UserHomeDir()
	if homeErr == nil {
		old := filepath.Join(home, ".debuginfod_client_cache")
		if _, err := os.Stat(old); err == nil {
			return old
		}
	}

	// The XDG base directory, with its default below the home directory.
	if dir := os.Getenv("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(dir, "debuginfod_client")
	}
	if homeErr != nil {
		return ""
	}
	return filepath.Join(home, ".cache", "debuginfod_client")
}

// usualMiss is the time that a miss is remembered for if the cache has no cache_miss_s.
const usualMiss = 600 * time.Second

// missAge returns the time that a miss is remembered for: the number of seconds in the
// cache's file cache_miss_s.
func (c *Client) missAge() time.Duration {
	text, err := smallfile.Read(filepath.Join(c.Cache, "cache_miss_s"), smallfile.Most)
	if err != nil {
		return usualMiss
	}

	// An unusable number is treated like an absent one.
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || n < 0 || n > maxSeconds {
		return usualMiss
	}
	return time.Duration(n) * time.Second
}
