// Package profile reads pprof's profiles (profile.proto) as far as addresses, and writes them with functions and lines.
// All else in a profile stays as it is, byte for byte.
package profile

import (
	"errors"

	"symkit/internal/wire"
)

// Profile is a profile whose messages have not been read but for the mappings.
type Profile struct {
	Mappings []*Mapping

	data      []byte
	mappings  map[uint64]*Mapping // by ID
	functions uint64              // the largest ID
	strings   uint64              // number
}

// Mapping is where a process had a part of a file in memory.
type Mapping struct {
	Start, Limit, Offset uint64
	File, BuildID        string

	message                [2]int // offsets in the profile
	id, file, buildID      uint64
	functions, files, line bool // what Write has filled in
}

// Fields of the messages (github.com/google/pprof/proto/profile.proto).
const (
	profileMapping, profileLocation, profileFunction, profileString = 3, 4, 5, 6

	mappingID, mappingStart, mappingLimit, mappingOffset, mappingFile, mappingBuildID = 1, 2, 3, 4, 5, 6
	mappingHasFunctions, mappingHasFiles, mappingHasLines, mappingHasInlined          = 7, 8, 9, 10

	locationMapping, locationAddress, locationLine = 2, 3, 4

	lineFunction, lineLine, lineColumn = 1, 2, 3

	functionID, functionName, functionSystem, functionFile, functionStart = 1, 2, 3, 4, 5
)

// Reasons that bytes are no profile.
var (
	errMappings = errors.New("too many mappings")
	errString   = errors.New("no such string")
)

// mostMappings bounds what a hostile profile makes of its bytes.
const mostMappings = 1 << 20

// Parse reads a profile, which is not packed. The Profile refers to data.
func Parse(data []byte) (*Profile, error) {
	p := &Profile{data: data, mappings: map[uint64]*Mapping{}}
	c := wire.New("profile", data, false)
	for c.Len() > 0 {
		f := c.Field()
		sub := f.Sub
		switch f.Number {
		case profileMapping:
			if len(p.Mappings) == mostMappings {
				c.Fail(f.Sub.Pos(), errMappings)
				break
			}
			m := parseMapping(&sub)
			m.message = [2]int{f.Sub.Pos(), f.Sub.End()}
			p.Mappings = append(p.Mappings, m)
			p.mappings[m.id] = m
		case profileFunction:
			for sub.Len() > 0 {
				f := sub.Field()
				if f.Number == functionID {
					p.functions = max(p.functions, f.Value)
				}
			}
		case profileString:
			p.strings++
		}
		c.Inherit(&sub)
	}
	if c.Err() == nil {
		p.readStrings(&c)
	}
	return p, c.Err()
}

// parseMapping reads a mapping.
func parseMapping(c *wire.Cursor) *Mapping {
	m := &Mapping{}
	for c.Len() > 0 {
		f := c.Field()
		switch f.Number {
		case mappingID:
			m.id = f.Value
		case mappingStart:
			m.Start = f.Value
		case mappingLimit:
			m.Limit = f.Value
		case mappingOffset:
			m.Offset = f.Value
		case mappingFile:
			m.file = f.Value
		case mappingBuildID:
			m.buildID = f.Value
		}
	}
	return m
}

// readStrings gives the mappings their strings. c, which has been read, gets the error.
func (p *Profile) readStrings(c *wire.Cursor) {
	texts := map[uint64]string{0: ""}
	for _, m := range p.Mappings {
		if m.file >= max(p.strings, 1) || m.buildID >= max(p.strings, 1) {
			c.Fail(m.message[0], errString)
			return
		}
		texts[m.file], texts[m.buildID] = "", ""
	}
	all, n := wire.New("profile", p.data, false), uint64(0)
	for all.Len() > 0 {
		f := all.Field()
		if f.Number == profileString {
			_, wanted := texts[n]
			if wanted {
				texts[n] = f.Text()
			}
			n++
		}
	}
	for _, m := range p.Mappings {
		m.File, m.BuildID = texts[m.file], texts[m.buildID]
	}
}
