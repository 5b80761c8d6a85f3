//! Evaluates the call frame information of an ELF file with gimli, on registers
//! and memory that are pseudo-random functions of a seed.
//!
//! Usage: cfieval SECTION SEEDS FILE
//!
//! SECTION is .eh_frame or .debug_frame; the seeds are 0 to SEEDS-1. It prints,
//! all numbers but seeds and register numbers in hexadecimal,
//!
//!     fde OFFSET BEGIN END RA    by address; RA is the return address's column
//!     row BEGIN END REG:EXPR...  the expressions in it, as bytes; REG may be cfa
//!     val PC SEED CFA REG=VALUE...
//!
//! REG is a DWARF number, VALUE `undef` for one that cannot be recovered, `?` for
//! one whose expression fails, as may the CFA's. Only registers that the row has
//! a rule for are listed. There is one `val` per seed
//! for the row's first PC, and for every one where a rule reads the PC.
//!
//! `random` and `State` below tell the registers and memory; whoever compares
//! has to compute the same.

use gimli::{
    CfaRule, EndianSlice, EvaluationResult, Expression, Location, Register, RegisterRule,
    RunTimeEndian, UnwindContext, UnwindContextStorage, UnwindExpression, UnwindSection,
    UnwindTableRow, Value, Vendor,
};
use object::{Architecture, Object, ObjectSection};
use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};

type Bytes<'a> = EndianSlice<'a, RunTimeEndian>;
type Failure = Box<dyn Error>;

/// Room for any number of rules: the usual storage is bounded.
struct Unbounded;

impl UnwindContextStorage<usize> for Unbounded {
    type Rules = Vec<(Register, RegisterRule<usize>)>;
    type Stack = Vec<UnwindTableRow<usize, Self>>;
}

type Row = UnwindTableRow<usize, Unbounded>;

/// The next number of splitmix64 after state x.
fn random(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// What an evaluation reads: registers and memory of one seed, at one PC.
struct State<'m> {
    machine: &'m Machine,
    seed: u64,
    pc: u64,
    read_pc: bool, // set when a rule has read the PC
}

struct Machine {
    word: u8, // size of an address in bytes
    big_endian: bool,
    pc: Option<Register>, // the register that is the PC
    encoding: gimli::Encoding,
}

impl State<'_> {
    fn fold(&self, v: u64) -> u64 {
        if self.machine.word == 8 {
            v
        } else {
            v & ((1 << (8 * self.machine.word)) - 1)
        }
    }

    fn register(&mut self, r: Register) -> u64 {
        if self.machine.pc == Some(r) {
            self.read_pc = true;
            return self.pc;
        }
        self.fold(random(random(2 * self.seed) ^ u64::from(r.0)))
    }

    /// Eight bytes at a time are a random number, least significant byte first.
    fn byte(&self, address: u64) -> u8 {
        let address = self.fold(address);
        let chunk = random(random(2 * self.seed + 1) ^ (address >> 3));
        (chunk >> (8 * (address & 7))) as u8
    }

    fn memory(&self, address: u64, size: u8) -> u64 {
        let mut v = 0;
        for i in 0..u64::from(size) {
            let byte = u64::from(self.byte(address.wrapping_add(i)));
            v |= match self.machine.big_endian {
                true => byte << (8 * (u64::from(size) - 1 - i)),
                false => byte << (8 * i),
            };
        }
        v
    }

    /// Runs an expression, with the CFA on the stack if there is one.
    fn run(&mut self, e: Expression<Bytes>, cfa: Option<u64>) -> Result<u64, Failure> {
        let mut eval = e.evaluation(self.machine.encoding);
        eval.set_max_iterations(10_000);
        if let Some(cfa) = cfa {
            eval.set_initial_value(cfa);
        }
        let mut step = eval.evaluate()?;
        loop {
            step = match step {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresRegister { register, .. } => {
                    eval.resume_with_register(Value::Generic(self.register(register)))?
                }
                EvaluationResult::RequiresMemory { address, size, .. } => {
                    eval.resume_with_memory(Value::Generic(self.memory(address, size)))?
                }
                EvaluationResult::RequiresRelocatedAddress(address) => {
                    eval.resume_with_relocated_address(address)?
                }
                other => return Err(format!("expression needs {other:?}").into()),
            }
        }
        match eval.as_result() {
            [piece] => match piece.location {
                Location::Address { address } => Ok(self.fold(address)),
                // A location, not a value; libgcc_s of MIPS has it, and its
                // unwinder and gdb take it for the register's value.
                Location::Register { register } => Ok(self.register(register)),
                ref other => Err(format!("expression gives {other:?}").into()),
            },
            pieces => Err(format!("expression gives {} pieces", pieces.len()).into()),
        }
    }
}

/// The values of one row: appends a `val` line.
fn evaluate<'a, S: UnwindSection<Bytes<'a>>>(
    section: &S,
    row: &Row,
    state: &mut State,
    out: &mut String,
) -> Result<(), Failure> {
    let cfa = match row.cfa() {
        CfaRule::RegisterAndOffset { register, offset } => {
            let base = state.register(*register);
            state.fold(base.wrapping_add_signed(*offset))
        }
        CfaRule::Expression(e) => match state.run(e.get(section)?, None) {
            Ok(cfa) => cfa,
            Err(_) => {
                writeln!(out, "val {:x} {} ?", state.pc, state.seed)?;
                return Ok(());
            }
        },
    };
    write!(out, "val {:x} {} {cfa:x}", state.pc, state.seed)?;
    for (register, rule) in row.registers() {
        let at = |off: i64| cfa.wrapping_add_signed(off);
        let word = state.machine.word;
        let value = match rule {
            RegisterRule::Undefined => {
                write!(out, " {}=undef", register.0)?;
                continue;
            }
            RegisterRule::SameValue => Ok(state.register(*register)),
            RegisterRule::Offset(off) => Ok(state.memory(at(*off), word)),
            RegisterRule::ValOffset(off) => Ok(state.fold(at(*off))),
            RegisterRule::Register(other) => Ok(state.register(*other)),
            RegisterRule::Expression(e) => state
                .run(e.get(section)?, Some(cfa))
                .map(|address| state.memory(address, word)),
            RegisterRule::ValExpression(e) => state.run(e.get(section)?, Some(cfa)),
            RegisterRule::Constant(value) => Ok(*value),
            other => return Err(format!("rule {other:?}").into()),
        };
        match value {
            Ok(value) => write!(out, " {}={value:x}", register.0)?,
            Err(_) => write!(out, " {}=?", register.0)?,
        }
    }
    out.push('\n');
    Ok(())
}

/// Appends a row's expressions to its line.
fn expressions<'a, S: UnwindSection<Bytes<'a>>>(
    section: &S,
    row: &Row,
    out: &mut String,
) -> Result<(), Failure> {
    let mut one = |name: &str, e: &UnwindExpression<usize>| -> Result<(), Failure> {
        write!(out, " {name}:")?;
        for byte in e.get(section)?.0.slice() {
            write!(out, "{byte:02x}")?;
        }
        Ok(())
    };
    if let CfaRule::Expression(e) = row.cfa() {
        one("cfa", e)?;
    }
    for (register, rule) in row.registers() {
        if let RegisterRule::Expression(e) | RegisterRule::ValExpression(e) = rule {
            one(&register.0.to_string(), e)?;
        }
    }
    Ok(())
}

/// The section offsets of the FDEs, and of the augmentation strings of the CIEs.
/// gimli's own iterator ends at the first zero length of .eh_frame, of which
/// linkers leave some in the middle.
fn entries(data: Bytes, eh: bool) -> Result<(Vec<usize>, Vec<usize>), Failure> {
    use gimli::Reader;
    let mut offsets = Vec::new();
    let mut augmentations = Vec::new();
    let mut rest = data;
    while !rest.is_empty() {
        let offset = rest.offset_from(data);
        let (length, format) = rest.read_initial_length()?;
        if length == 0 {
            continue;
        }
        let mut entry = rest.split(length)?;
        let is_cie = match (eh, format) {
            (true, _) => entry.read_u32()? == 0,
            (false, gimli::Format::Dwarf32) => entry.read_u32()? == !0,
            (false, gimli::Format::Dwarf64) => entry.read_u64()? == !0,
        };
        if is_cie {
            augmentations.push(entry.offset_from(data) + 1); // behind the version
        } else {
            offsets.push(offset);
        }
    }
    Ok((offsets, augmentations))
}

/// gimli refuses the letters of AArch64 that it does not know: B, a return
/// address signed with key B, and G, a tagged stack. Both come without data, as
/// does S, which takes their place.
fn replace_letters(data: &mut [u8], augmentations: &[usize]) {
    for &at in augmentations {
        for letter in data[at..].iter_mut().take_while(|b| **b != 0) {
            if matches!(*letter, b'B' | b'G') {
                *letter = b'S';
            }
        }
    }
}

fn print_section<'a, S>(
    section: &S,
    offsets: &[usize],
    bases: &gimli::BaseAddresses,
    machine: &Machine,
    seeds: u64,
) -> Result<(), Failure>
where
    S: UnwindSection<Bytes<'a>>,
    S::Offset: From<usize>,
{
    let mut fdes = Vec::new();
    for &offset in offsets {
        let fde = section.fde_from_offset(bases, S::Offset::from(offset), S::cie_from_offset);
        fdes.push(fde.map_err(|e| format!("FDE {offset:#x}: {e}"))?);
    }
    fdes.sort_by_key(|f| f.initial_address()); // stable: by offset next
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut ctx = UnwindContext::<usize, Unbounded>::new_in();
    for fde in &fdes {
        let mut text = format!(
            "fde {:x} {:x} {:x} {}\n",
            fde.offset(),
            fde.initial_address(),
            fde.end_address(),
            fde.cie().return_address_register().0
        );
        let fault = |e: Failure| format!("FDE {:#x}: {e}", fde.offset());
        let mut table = fde.rows(section, bases, &mut ctx).map_err(|e| fault(e.into()))?;
        while let Some(row) = table.next_row().map_err(|e| fault(e.into()))? {
            let end = row.end_address().min(fde.end_address());
            if row.start_address() < end {
                print_row(section, row, end, machine, seeds, &mut text).map_err(fault)?;
            }
        }
        out.write_all(text.as_bytes())?;
    }
    out.flush()?;
    Ok(())
}

fn print_row<'a, S: UnwindSection<Bytes<'a>>>(
    section: &S,
    row: &Row,
    end: u64,
    machine: &Machine,
    seeds: u64,
    out: &mut String,
) -> Result<(), Failure> {
    write!(out, "row {:x} {end:x}", row.start_address())?;
    expressions(section, row, out)?;
    out.push('\n');
    for pc in row.start_address()..end {
        let mut read_pc = false;
        for seed in 0..seeds {
            let mut state = State { machine, seed, pc, read_pc: false };
            evaluate(section, row, &mut state, out)?;
            read_pc |= state.read_pc;
        }
        if !read_pc {
            break;
        }
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [name, seeds, path] = args.as_slice() else {
        return Err("usage: cfieval SECTION SEEDS FILE".into());
    };
    let content = std::fs::read(path)?;
    let file = object::File::parse(&*content)?;
    let endian = match file.is_little_endian() {
        true => RunTimeEndian::Little,
        false => RunTimeEndian::Big,
    };
    let word = if file.is_64() { 8 } else { 4 };
    let machine = Machine {
        word,
        big_endian: !file.is_little_endian(),
        pc: match file.architecture() {
            Architecture::X86_64 => Some(Register(16)),
            Architecture::I386 => Some(Register(8)),
            Architecture::Arm => Some(Register(15)),
            Architecture::S390x => Some(Register(65)),
            _ => None,
        },
        encoding: gimli::Encoding { address_size: word, format: gimli::Format::Dwarf32, version: 5 },
    };
    let vendor = match file.architecture() {
        Architecture::Aarch64 => Vendor::AArch64,
        _ => Vendor::Default,
    };
    let address = |name| file.section_by_name(name).map_or(0, |s| s.address());
    let bases = gimli::BaseAddresses::default()
        .set_eh_frame(address(".eh_frame"))
        .set_text(address(".text"))
        .set_got(address(".got"));
    let Some(section) = file.section_by_name(name) else {
        return Err(format!("{path}: no {name}").into());
    };
    let mut data = section.uncompressed_data()?.into_owned();
    let seeds = seeds.parse()?;
    let (offsets, augmentations) =
        entries(EndianSlice::new(&data, endian), name == ".eh_frame")?;
    if vendor == Vendor::AArch64 {
        replace_letters(&mut data, &augmentations);
    }
    if name == ".eh_frame" {
        let mut frames = gimli::EhFrame::new(&data, endian);
        frames.set_address_size(word);
        frames.set_vendor(vendor);
        print_section(&frames, &offsets, &bases, &machine, seeds)
    } else {
        let mut frames = gimli::DebugFrame::new(&data, endian);
        frames.set_address_size(word);
        frames.set_vendor(vendor);
        print_section(&frames, &offsets, &bases, &machine, seeds)
    }
}
