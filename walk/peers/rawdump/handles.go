package rawdump

import (
	"symkit/walk/internal/mdmp"
)

const handleLayout layout = `MINIDUMP_HANDLE_DESCRIPTOR
  handle            = {x8}
  type_name_rva     = {x4}
  object_name_rva   = {x4}
  attributes        = {x4}
  granted_access    = {x4}
  handle_count      = {d4}
  pointer_count     = {d4}
`

// The sizes of the two versions of MINIDUMP_HANDLE_DESCRIPTOR. The second has the offset of
// information on the object.
const (
	handleSize  = 32
	handleSize2 = 40
)

// handles writes MINIDUMP_HANDLE_DATA_STREAM.
func (p *printer) handles() {
	c, size, ok := p.table(mdmp.HandleDataStream, handleSize, handleSize2)
	if !ok {
		return
	}
	p.printf("MinidumpHandleDataStream\n  handle_count = %d\n\n", c.Len()/size)
	for i := 0; c.Len() > 0 && p.err == nil; i++ {
		p.printf("handle[%d]\n", i)
		h := c.Sub(uint64(size))
		p.fields(handleLayout, h)

		h.Skip(8)
		typeName, objectName := h.U32(), h.U32()
		h.Skip(16)
		info := h.U32() // 0 in the first version: the cursor has ended
		if size == handleSize2 {
			p.printf("  object_info_rva   = %#x\n", info)
		} else {
			p.printf("  object_info_rva   = (invalid)\n")
		}
		p.printf("  (type_name)       = %s\n  (object_name)     = %s\n", p.orNull(typeName), p.orNull(objectName))
		p.objectInfo(info)
		p.printf("\n")
	}
}

// orNull returns the string at rva. At offset 0 there is none.
func (p *printer) orNull(rva uint32) string {
	text, ok := p.name(uint64(rva))
	if rva == 0 || !ok {
		return "(null)"
	}
	return text
}

// objectTypes are the names of MINIDUMP_HANDLE_OBJECT_INFORMATION_TYPE.
var objectTypes = []string{"MiniHandleObjectInformationNone", "MiniThreadInformation1", "MiniMutantInformation1",
	"MiniMutantInformation2", "MiniProcessInformation1", "MiniProcessInformation2", "MiniEventInformation1",
	"MiniSectionInformation1", "MiniSemaphoreInformation1", "MiniHandleObjectInformationTypeMax"}

// maxObjectInfos bounds the chain of one handle: in a damaged dump it can be a circle.
const maxObjectInfos = 1000

// objectInfo writes the chain of MINIDUMP_HANDLE_OBJECT_INFORMATION at rva.
func (p *printer) objectInfo(rva uint32) {
	n := 0
	for ; rva != 0 && n < maxObjectInfos; n++ {
		c := p.rest(uint64(rva))
		next, typ, size := c.U32(), c.U32(), c.U32()
		if c.Err() != nil || typ >= uint32(len(objectTypes)) {
			break
		}
		p.printf("  (object_info)     = {raw: MINIDUMP_HANDLE_OBJECT_INFORMATION { next_info_rva: %d, info_type: %d, size_of_info: %d }, type: %s}\n",
			next, typ, size, objectTypes[typ])
		rva = next
	}
	if n == 0 {
		p.printf("  (object_info)     = (null)\n")
	}
}
