//go:build oracle && unix

package main

import "testing"

// TestOraclePipes is TestPipes with a thousand files.
func TestOraclePipes(t *testing.T) { damagedFiles(t, 1000) }
