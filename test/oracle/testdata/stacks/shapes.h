// Shared by the C++ files: classes, templates and functions to inline.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

class Shape {
 public:
  virtual ~Shape() = default;
  virtual double area() const = 0;
  virtual std::string name() const = 0;
};

class Circle : public Shape {
 public:
  explicit Circle(double r) : r_(r) {}
  double area() const override;
  std::string name() const override;

 private:
  double r_;
};

template <typename T>
class Box : public Shape {
 public:
  Box(T w, T h) : w_(w), h_(h) {}
  double area() const override { return w_ * h_; }
  std::string name() const override { return "box" + std::to_string(static_cast<int>(w_)); }

 private:
  T w_, h_;
};

template <typename T, std::size_t N>
struct Matrix {
  std::array<std::array<T, N>, N> at{};

  Matrix operator*(const Matrix& o) const {
    Matrix out;
    for (std::size_t i = 0; i < N; i++)
      for (std::size_t j = 0; j < N; j++)
        for (std::size_t k = 0; k < N; k++) out.at[i][j] += at[i][k] * o.at[k][j];
    return out;
  }
  T trace() const {
    T sum{};
    for (std::size_t i = 0; i < N; i++) sum += at[i][i];
    return sum;
  }
};

template <typename T, std::size_t N>
Matrix<T, N> power(Matrix<T, N> m, unsigned n) {
  Matrix<T, N> out;
  for (std::size_t i = 0; i < N; i++) out.at[i][i] = 1;
  for (; n; n >>= 1, m = m * m)
    if (n & 1) out = out * m;
  return out;
}

// In other files, for link-time optimisation to inline.
unsigned long hash(const std::string& s);
int checked(int n);
