//! Every map of rank ≤ 3 into a codomain of rank ≤ 3 with coefficients -3..3 and extents 1..5, complete up to the
//! sign and the order of the components (which change neither answer): both decisions against brute force, on the
//! tight codomain, every certificate verified.
//!
//! ```sh
//! cargo run --release -p surject-index --example decide_all            # all 110 million maps
//! cargo run --release -p surject-index --example decide_all -- 100     # every 100th map of rank 3 to 3
//! ```
//!
//! Counts of wrong *yes*, wrong *no* and *unknown* per rank pair, and nanoseconds per query. The time of a query
//! is taken over batches, without building the map.

use std::time::{Duration, Instant};
use surject_index::{Affine, IndexMap, Space, Verdict};

#[derive(Default)]
struct Tally {
    maps: u64,
    injective: u64,
    surjective: u64,
    wrong_yes: u64,
    wrong_no: u64,
    unknown: u64,
    injective_time: Duration,
    surjective_time: Duration,
    brute_time: Duration,
}

/// Brute force: how often positions are hit, in a table that is never cleared.
#[derive(Default)]
struct Brute {
    seen: Vec<u64>,
    round: u64,
}

impl Brute {
    /// Injective, and surjective onto the codomain.
    fn decide(&mut self, sizes: &[i64], rows: &[&[i64; 3]], lows: &[i64], widths: &[i64]) -> (bool, bool) {
        self.round += 1;
        let targets: i64 = widths.iter().product();
        if self.seen.len() < targets as usize {
            self.seen.resize(targets as usize, 0);
        }
        let padded = |axis: usize| sizes.get(axis).copied().unwrap_or(1);
        let (mut points, mut distinct) = (0, 0);
        for x in 0..padded(0) {
            for y in 0..padded(1) {
                for z in 0..padded(2) {
                    let mut index = 0;
                    for ((row, low), width) in rows.iter().zip(lows).zip(widths) {
                        index = index * width + row[0] * x + row[1] * y + row[2] * z - low;
                    }
                    let cell = &mut self.seen[index as usize];
                    points += 1;
                    distinct += (*cell != self.round) as i64;
                    *cell = self.round;
                }
            }
        }
        (points == distinct, distinct == targets)
    }
}

struct Case {
    map: IndexMap,
    injective: bool,
    surjective: bool,
}

const BATCH: usize = 4096;

fn flush(batch: &mut Vec<Case>, tally: &mut Tally) {
    let start = Instant::now();
    let injective: Vec<_> = batch.iter().map(|c| c.map.injective()).collect();
    let middle = Instant::now();
    let surjective: Vec<_> = batch.iter().map(|c| c.map.surjective()).collect();
    tally.surjective_time += middle.elapsed();
    tally.injective_time += middle - start;
    for ((case, injective), surjective) in batch.drain(..).zip(injective).zip(surjective) {
        tally.maps += 1;
        tally.injective += case.injective as u64;
        tally.surjective += case.surjective as u64;
        let answers = [(injective.plain(), case.injective), (surjective.plain(), case.surjective)];
        for (answer, truth) in answers {
            tally.wrong_yes += (answer.is_yes() && !truth) as u64;
            tally.wrong_no += (answer.is_no() && truth) as u64;
            tally.unknown += answer.is_unknown() as u64;
        }
        if let Verdict::No(c) = injective {
            let sizes = case.map.domain().sizes().unwrap_or_default();
            let inside = |p: &[i64]| p.iter().zip(&sizes).all(|(x, n)| (0..*n).contains(x));
            let valid = c.first != c.second && inside(&c.first) && inside(&c.second);
            let collides = case.map.apply(&c.first) == case.map.apply(&c.second);
            tally.wrong_no += !(valid && collides) as u64;
        }
    }
}

fn run(rank: usize, codomain_rank: usize, every: u64) -> Tally {
    // Rows up to sign: the first coefficient that is not zero is positive.
    let rows: Vec<[i64; 3]> = (0..7i64.pow(rank as u32))
        .map(|k| std::array::from_fn(|j| if j < rank { k / 7i64.pow(j as u32) % 7 - 3 } else { 0 }))
        .filter(|r: &[i64; 3]| r.iter().find(|&&c| c != 0).is_none_or(|&c| c > 0))
        .collect();
    let (mut tally, mut brute, mut batch) = (Tally::default(), Brute::default(), Vec::with_capacity(BATCH));
    let mut counter = 0u64;
    for extents in 0..5i64.pow(rank as u32) {
        let sizes: Vec<i64> = (0..rank).map(|j| extents / 5i64.pow(j as u32) % 5 + 1).collect();
        let domain = Space::of(&sizes.iter().map(|&n| n as u64).collect::<Vec<_>>());
        let forms: Vec<(Affine, i64, i64)> = rows
            .iter()
            .map(|row| {
                let mut form = Affine { coeffs: row[..rank].to_vec(), offset: 0 };
                let (low, high) = form.range(&domain).expect("small numbers");
                form.offset = -low;
                (form, low, high - low + 1)
            })
            .collect();
        let mut choice = vec![0usize; codomain_rank];
        loop {
            counter += 1;
            if counter.is_multiple_of(every) {
                let picked: Vec<&[i64; 3]> = choice.iter().map(|&c| &rows[c]).collect();
                let lows: Vec<i64> = choice.iter().map(|&c| forms[c].1).collect();
                let widths: Vec<i64> = choice.iter().map(|&c| forms[c].2).collect();
                let components = choice.iter().map(|&c| forms[c].0.clone()).collect();
                let codomain = Space::of(&widths.iter().map(|&n| n as u64).collect::<Vec<_>>());
                let map = IndexMap::total(domain.clone(), codomain, components).expect("in range");
                let start = Instant::now();
                let (injective, surjective) = brute.decide(&sizes, &picked, &lows, &widths);
                tally.brute_time += start.elapsed();
                batch.push(Case { map, injective, surjective });
                if batch.len() == BATCH {
                    flush(&mut batch, &mut tally);
                }
            }
            // The next multiset of rows: non-decreasing choices.
            let Some(place) = (0..codomain_rank).rev().find(|&i| choice[i] + 1 < rows.len()) else { break };
            let next = choice[place] + 1;
            choice[place..].fill(next);
        }
    }
    flush(&mut batch, &mut tally);
    tally
}

fn main() {
    let every: u64 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(1).max(1);
    println!(
        "| rank | maps | injective | surjective | wrong yes | wrong no | unknown | inj. ns | surj. ns | brute ns |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let start = Instant::now();
    for rank in 1..=3 {
        for codomain_rank in 1..=3 {
            let t = run(rank, codomain_rank, if (rank, codomain_rank) == (3, 3) { every } else { 1 });
            let each = |d: Duration| d.as_nanos() / u128::from(t.maps.max(1));
            println!(
                "| {rank} to {codomain_rank} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
                t.maps,
                t.injective,
                t.surjective,
                t.wrong_yes,
                t.wrong_no,
                t.unknown,
                each(t.injective_time),
                each(t.surjective_time),
                each(t.brute_time)
            );
        }
    }
    println!("\n{:.1?} in all", start.elapsed());
}
